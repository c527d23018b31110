// verdict: synchronisation
// race cells: none
#include "threads.h"

static int waiting = 3;
static volatile int sense;
static int sums[3], cells[3];

static void wait_all(int *mine) {
	*mine = !*mine;
	if (__sync_sub_and_fetch(&waiting, 1) == 0) {
		waiting = 3;
		__sync_synchronize();
		sense = *mine;
	} else
		while (sense != *mine) sched_yield();
	__asm__ volatile("" ::: "memory");
}

static void *work(void *arg) {
	long me = (long)arg;
	int mine = 0;
	for (int round = 0; round < 8; round++) {
		cells[me] = round;
		wait_all(&mine);
		for (int k = 0; k < 3; k++) sums[me] += cells[k];
		wait_all(&mine);
	}
	return 0;
}

int main(void) {
	threads(3, work);
	printf("%d\n", sums[0] + sums[1] + sums[2]);
	return 0;
}
