// verdict: harmful
// the reader waits until nobody writes, but doesn't look again afterwards: the pair may be torn
#include "threads.h"

static volatile unsigned seq;
static volatile long price, stamp;
static int mixed;

static void *feed(void *arg) {
	for (long i = 1; i <= 150; i++) {
		__atomic_fetch_add(&seq, 1, __ATOMIC_SEQ_CST);
		price = 100 + i;
		stamp = i;
		__atomic_fetch_add(&seq, 1, __ATOMIC_SEQ_CST);
	}
	return 0;
}

static void *quote(void *arg) {
	for (int i = 0; i < 150; i++) {
		while (seq & 1) sched_yield();
		long p = price, s = stamp;
		if (p != 100 + s) mixed++;
	}
	return 0;
}

int main(void) {
	price = 100;
	both(feed, quote);
	printf("%s\n", mixed < 0 ? "?" : "ok");
	return mixed < 0;
}
