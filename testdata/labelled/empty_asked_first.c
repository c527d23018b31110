// verdict: benign
// the lock is taken only if there seems to be something, and then it is asked again
#include "threads.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static volatile int n;
static int items[64], taken;

static void *producer(void *arg) {
	for (int i = 0; i < 64; i++) {
		pthread_mutex_lock(&mu);
		items[n] = i;
		n = n + 1;
		pthread_mutex_unlock(&mu);
	}
	return 0;
}

static void *consumer(void *arg) {
	for (int i = 0; i < 300; i++) {
		if (n == 0) continue;
		pthread_mutex_lock(&mu);
		if (n > 0) {
			n = n - 1;
			taken += items[n] >= 0;
		}
		pthread_mutex_unlock(&mu);
	}
	return 0;
}

int main(void) {
	both(producer, consumer);
	return taken + n != 64;
}
