// verdict: benign
// which buffer is probably free; it is claimed by an atomic exchange
#include "threads.h"

static int busy[4], hits[2];
static volatile int hint;

static void *work(void *arg) {
	for (int i = 0; i < 80; i++) {
		int k = hint;
		for (;; k = (k + 1) % 4)
			if (!__sync_lock_test_and_set(&busy[k], 1)) break;
		hits[(long)arg]++;
		__sync_lock_release(&busy[k]);
		hint = k;
	}
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%d\n", hits[0] + hits[1]);
	return 0;
}
