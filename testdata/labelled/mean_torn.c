// verdict: harmful
// sum and count don't belong together when they are read
#include "threads.h"

static long sum, n;
static long means[100];

static void *add(void *arg) {
	for (int i = 0; i < 100; i++) {
		sum += 10;
		n++;
	}
	return 0;
}

static void *show(void *arg) {
	for (int i = 0; i < 100; i++)
		if (n) means[i] = sum / n;
	return 0;
}

int main(void) {
	both(add, show);
	return means[99] > 1000;
}
