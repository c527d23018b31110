// verdict: synchronisation
// race cells: none
// a pipeline: each stage waits until the one before is far enough
#include "threads.h"

static volatile int reached[3];
static int cells[3][50];

static void *stage(void *arg) {
	long me = (long)arg;
	for (int i = 0; i < 50; i++) {
		if (me > 0)
			while (reached[me - 1] <= i) sched_yield();
		__asm__ volatile("" ::: "memory");
		cells[me][i] = me ? cells[me - 1][i] + 1 : i;
		__asm__ volatile("" ::: "memory");
		reached[me] = i + 1;
	}
	return 0;
}

int main(void) {
	threads(3, stage);
	printf("%d\n", cells[2][49]);
	return 0;
}
