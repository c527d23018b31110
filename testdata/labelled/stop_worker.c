// verdict: benign
// the worker stops at this step or at the next
// race stop: benign
#include "threads.h"

static volatile int stop;
static long steps;

static void *worker(void *arg) {
	for (int i = 0; i < 5000 && !stop; i++) steps += i & 1;
	return 0;
}

static void *boss(void *arg) {
	for (volatile int i = 0; i < 200; i++);
	stop = 1;
	return 0;
}

int main(void) {
	both(worker, boss);
	return steps < 0;
}
