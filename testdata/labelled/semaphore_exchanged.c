// verdict: none
// permits are taken by a compare and exchange, so that no two take the same
#include "threads.h"

static int permits = 1;
static int inside, most;

static void down(void) {
	for (;;) {
		int p = __atomic_load_n(&permits, __ATOMIC_SEQ_CST);
		if (p > 0 && __atomic_compare_exchange_n(&permits, &p, p - 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
		sched_yield();
	}
}

static void *work(void *arg) {
	for (int i = 0; i < 50; i++) {
		down();
		if (++inside > most) most = inside;
		inside--;
		__atomic_fetch_add(&permits, 1, __ATOMIC_SEQ_CST);
	}
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%d\n", most);
	return 0;
}
