// verdict: synchronisation
// race counter: none
#include "threads.h"

static volatile int wants[2], turn;
static int inside, counter;

static void lock(int me) {
	wants[me] = 1;
	__sync_synchronize();
	while (wants[1 - me]) {
		if (turn != me) {
			wants[me] = 0;
			while (turn != me) sched_yield();
			wants[me] = 1;
			__sync_synchronize();
		}
	}
}

static void unlock(int me) {
	__asm__ volatile("" ::: "memory");
	turn = 1 - me;
	wants[me] = 0;
}

static void *work(void *arg) {
	int me = (int)(long)arg;
	for (int i = 0; i < 40; i++) {
		lock(me);
		counter++;
		unlock(me);
	}
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%d\n", counter);
	return 0;
}
