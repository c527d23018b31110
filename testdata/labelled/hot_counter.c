// verdict: benign
// an inexact count decides when to optimise, which is then done once, with a lock
#include "threads.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static volatile int calls, optimised;
static int compiled;

static int run(int v) {
	if (!optimised) {
		calls = calls + 1;
		if (calls > 50) {
			pthread_mutex_lock(&mu);
			if (!optimised) {
				compiled++;
				optimised = 1;
			}
			pthread_mutex_unlock(&mu);
		}
	}
	return v * 2;
}

static long sums[2];

static void *work(void *arg) {
	for (int i = 0; i < 200; i++) sums[(long)arg] += run(i);
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%ld %d\n", sums[0] + sums[1], compiled);
	return 0;
}
