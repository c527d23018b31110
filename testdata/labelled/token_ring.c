// verdict: synchronisation
// three threads take turns
// race steps: none
#include "threads.h"

static volatile int turn;
static int steps;

static void *work(void *arg) {
	int me = (int)(long)arg;
	for (int i = 0; i < 15; i++) {
		while (turn != me) sched_yield();
		__asm__ volatile("" ::: "memory");
		steps++;
		__asm__ volatile("" ::: "memory");
		turn = (me + 1) % 3;
	}
	return 0;
}

int main(void) {
	threads(3, work);
	printf("%d\n", steps);
	return 0;
}
