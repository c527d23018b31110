// verdict: harmful
// a time stamp is kept in two halves, which a reader may get from different moments
#include "threads.h"

static volatile unsigned lo, hi;
static unsigned long last;
static int backwards;

static void *tick(void *arg) {
	for (unsigned long t = 0xfffffff0ul; t < 0xfffffff0ul + 100; t++) {
		lo = (unsigned)t;
		hi = t >> 32;
	}
	return 0;
}

static void *watch(void *arg) {
	for (int i = 0; i < 100; i++) {
		unsigned long t = (unsigned long)hi << 32 | lo;
		if (t < last) backwards++;
		last = t;
	}
	return 0;
}

int main(void) {
	lo = 0xfffffff0u;
	both(tick, watch);
	return 0;
}
