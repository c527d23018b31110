// verdict: harmful
// each side takes a lock, but not the same one
#include "threads.h"

static pthread_mutex_t read_lock = PTHREAD_MUTEX_INITIALIZER, write_lock = PTHREAD_MUTEX_INITIALIZER;
static struct { int requests, bytes; } stats;

static void *reader(void *arg) {
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&read_lock);
		stats.requests++;
		stats.bytes += 10;
		pthread_mutex_unlock(&read_lock);
	}
	return 0;
}

static void *writer(void *arg) {
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&write_lock);
		stats.requests++;
		stats.bytes += 20;
		pthread_mutex_unlock(&write_lock);
	}
	return 0;
}

int main(void) {
	both(reader, writer);
	printf("%d requests\n", stats.requests > 0);
	return 0;
}
