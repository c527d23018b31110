// verdict: benign
// the quick look may be wrong, the second one with the lock isn't
#include "threads.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static int peak;

static void saw(int v) {
	if (v <= *(volatile int *)&peak) return;
	pthread_mutex_lock(&mu);
	if (v > peak) peak = v;
	pthread_mutex_unlock(&mu);
}

static void *work(void *arg) {
	for (int i = 0; i < 150; i++) saw((i * 31 + (int)(long)arg * 17) % 1000);
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%d\n", peak);
	return 0;
}
