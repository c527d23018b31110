// verdict: benign
// a search begins where the last one ended; the result doesn't depend on it
#include "threads.h"

static int sorted[128];
static volatile int hint;

static int find(int v) {
	int i = hint;
	while (i > 0 && sorted[i] > v) i--;
	while (i < 127 && sorted[i] < v) i++;
	hint = i;
	return i;
}

static long sums[2];

static void *work(void *arg) {
	for (int i = 0; i < 60; i++) sums[(long)arg] += find((i * 37 % 128) * 3);
	return 0;
}

int main(void) {
	for (int i = 0; i < 128; i++) sorted[i] = i * 3;
	threads(2, work);
	printf("%ld\n", sums[0] + sums[1]);
	return 0;
}
