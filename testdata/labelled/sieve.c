// verdict: benign
// composite numbers are marked more than once
#include "threads.h"

static char composite[400];

static void *mark(void *arg) {
	for (int p = 2 + (int)(long)arg; p < 20; p += 2)
		for (int k = 2 * p; k < 400; k += p) composite[k] = 1;
	return 0;
}

int main(void) {
	threads(2, mark);
	int n = 0;
	for (int i = 2; i < 400; i++) n += !composite[i];
	printf("%d\n", n);
	return 0;
}
