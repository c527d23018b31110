// verdict: benign
// how many are done at once is tuned while it runs; the result stays the same
#include "threads.h"

static volatile int batch = 4;
static long sum;

static void *work(void *arg) {
	for (int i = 0; i < 400;) {
		int n = batch;
		for (int k = 0; k < n && i < 400; k++, i++) sum += i;
	}
	return 0;
}

static void *tune(void *arg) {
	for (int i = 0; i < 60; i++) batch = 1 + i % 8;
	return 0;
}

int main(void) {
	both(work, tune);
	printf("%ld\n", sum);
	return 0;
}
