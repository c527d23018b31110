// verdict: harmful
// known is set before the value is there
#include "threads.h"

static volatile int known[32];
static volatile long value[32];
static long sums[2];

static long square(int n) {
	if (known[n]) return value[n];
	known[n] = 1;
	long v = 0;
	for (int i = 0; i < n; i++) v += n;
	value[n] = v;
	return v;
}

static void *work(void *arg) {
	long me = (long)arg;
	for (int i = 0; i < 32; i++) sums[me] += square(i);
	return 0;
}

int main(void) {
	threads(2, work);
	return 0;
}
