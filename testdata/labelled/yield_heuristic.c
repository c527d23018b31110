// verdict: benign
// an inexact count decides when a thread gives way, and nothing else
#include "threads.h"

static volatile unsigned spins;
static long sums[2];

static void *work(void *arg) {
	for (int i = 0; i < 300; i++) {
		sums[(long)arg] += i;
		spins = spins + 1;
		if (spins % 64 == 0) sched_yield();
	}
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%ld\n", sums[0] + sums[1]);
	return 0;
}
