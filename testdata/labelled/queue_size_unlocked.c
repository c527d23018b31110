// verdict: harmful
// the consumer believes a size that it read without the lock, and takes without asking again
#include "threads.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static int items[256], size, bad;

static void *producer(void *arg) {
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&mu);
		items[size++] = i + 1;
		pthread_mutex_unlock(&mu);
	}
	return 0;
}

static void *consumer(void *arg) {
	for (int i = 0; i < 400; i++) {
		if (size > 0) {
			int v = items[--size];
			if (v == 0) bad++;
		}
	}
	return 0;
}

int main(void) {
	both(producer, consumer);
	return 0;
}
