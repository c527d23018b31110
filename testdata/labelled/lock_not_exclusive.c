// verdict: harmful
// a lock that is looked at and then set: two may find it open
#include "threads.h"

static volatile int locked;
static long balance, other;

static void lock(void) {
	while (locked) sched_yield();
	locked = 1;
}

static void unlock(void) { locked = 0; }

static void *move(void *arg) {
	for (int i = 0; i < 60; i++) {
		lock();
		balance -= 5;
		other += 5;
		unlock();
	}
	return 0;
}

int main(void) {
	threads(2, move);
	printf("%ld\n", balance + other);
	return 0;
}
