// verdict: synchronisation
// race counter: none
#include "threads.h"

static unsigned tickets;
static volatile unsigned serving;
static int counter;

static void *work(void *arg) {
	for (int i = 0; i < 60; i++) {
		unsigned mine = __sync_fetch_and_add(&tickets, 1);
		while (serving != mine) sched_yield();
		__asm__ volatile("" ::: "memory");
		counter++;
		__asm__ volatile("" ::: "memory");
		serving = mine + 1;
	}
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%d\n", counter);
	return 0;
}
