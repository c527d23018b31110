// verdict: harmful
// a count is taken and given without anything that makes it one step
#include "threads.h"

static volatile int permits = 1;
static int inside, most;

static void *work(void *arg) {
	for (int i = 0; i < 50; i++) {
		while (permits <= 0) sched_yield();
		permits = permits - 1;
		inside++;
		if (inside > most) most = inside;
		inside--;
		permits = permits + 1;
	}
	return 0;
}

int main(void) {
	threads(2, work);
	return 0;
}
