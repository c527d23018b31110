// verdict: harmful
// it says done before the result is there
#include "threads.h"

static volatile int done[40];
static volatile long result[40];
static long sum;

static void *compute(void *arg) {
	for (int i = 0; i < 40; i++) {
		done[i] = 1;
		long v = 1;
		for (int k = 1; k < 12; k++) v *= k;
		result[i] = v;
	}
	return 0;
}

static void *collect(void *arg) {
	for (int i = 0; i < 40; i++)
		for (int tries = 0; tries < 40; tries++)
			if (done[i]) {
				sum += result[i];
				break;
			}
	return 0;
}

int main(void) {
	both(compute, collect);
	return 0;
}
