// verdict: benign
// an old bound only makes the search longer; the new one is compared again with the lock held
#include "threads.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static volatile int bound = 1000000;

static void *search(void *arg) {
	unsigned x = 99 + (unsigned)(long)arg;
	for (int i = 0; i < 200; i++) {
		x = x * 1664525 + 1013904223;
		int cost = (x >> 10) % 50000;
		if (cost >= bound) continue;
		pthread_mutex_lock(&mu);
		if (cost < bound) bound = cost;
		pthread_mutex_unlock(&mu);
	}
	return 0;
}

int main(void) {
	threads(2, search);
	printf("%d\n", bound);
	return 0;
}
