// verdict: benign
// a value halves until it is small; both may halve, or only one
#include "threads.h"

static volatile int v = 1 << 20;

static void *work(void *arg) {
	while (v > 1) v = v / 2;
	return 0;
}

int main(void) {
	threads(2, work);
	printf("small\n");
	return 0;
}
