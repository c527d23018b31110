// verdict: synchronisation
// a slot is full or empty, and each side waits for the one or the other
// race letter: none
#include "threads.h"

static int letter;
static volatile int full;
static long sum;

static void *sender(void *arg) {
	for (int i = 1; i <= 30; i++) {
		while (full) sched_yield();
		__asm__ volatile("" ::: "memory");
		letter = i;
		__asm__ volatile("" ::: "memory");
		full = 1;
	}
	return 0;
}

static void *receiver(void *arg) {
	for (int i = 1; i <= 30; i++) {
		while (!full) sched_yield();
		__asm__ volatile("" ::: "memory");
		sum += letter;
		__asm__ volatile("" ::: "memory");
		full = 0;
	}
	return 0;
}

int main(void) {
	both(sender, receiver);
	printf("%ld\n", sum);
	return 0;
}
