// verdict: benign
// the first element is looked at early to warm the cache; what is read isn't used
#include "threads.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static int cells[32], sum;

static void *writer(void *arg) {
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&mu);
		cells[i % 32]++;
		pthread_mutex_unlock(&mu);
	}
	return 0;
}

static void *reader(void *arg) {
	for (int i = 0; i < 100; i++) {
		(void)*(volatile int *)&cells[i % 32];
		pthread_mutex_lock(&mu);
		sum += cells[i % 32];
		pthread_mutex_unlock(&mu);
	}
	return 0;
}

int main(void) {
	both(writer, reader);
	return sum < 0;
}
