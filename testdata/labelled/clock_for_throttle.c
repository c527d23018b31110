// verdict: benign
// a coarse clock only says when to look after housekeeping again
#include "threads.h"

static volatile long now;
static long sum, kept;

static void *ticker(void *arg) {
	for (int i = 0; i < 100; i++) now = i;
	return 0;
}

static void *work(void *arg) {
	long then = 0;
	for (int i = 0; i < 300; i++) {
		sum += i;
		if (now - then > 10) {
			then = now;
			kept = kept / 2;
		}
	}
	return 0;
}

int main(void) {
	both(ticker, work);
	printf("%ld\n", sum);
	return 0;
}
