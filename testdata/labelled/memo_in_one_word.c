// verdict: benign
// key and value are written by one store, so that they belong together
#include "threads.h"

static volatile unsigned long memo[16];

static unsigned square(unsigned n) {
	unsigned long m = memo[n % 16];
	if (m >> 32 == n) return (unsigned)m;
	unsigned v = n * n;
	memo[n % 16] = (unsigned long)n << 32 | v;
	return v;
}

static unsigned sums[2];

static void *work(void *arg) {
	for (unsigned i = 1; i < 120; i++) sums[(long)arg] += square(1 + i % 40);
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%u\n", sums[0] + sums[1]);
	return 0;
}
