// verdict: harmful
// flags: -O1
// The variable is waited for like a lock, but looked at and set in two steps:
// both threads may get in.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static volatile int busy;
static long total;

static void *work(void *arg) {
	for (int i = 0; i < 50; i++) {
		while (busy) sched_yield();
		busy = 1;
		total += 2;
		busy = 0;
	}
	return 0;
}

int main(void) {
	pthread_t t[2];
	for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
	printf("%s\n", total > 0 ? "done" : "nothing");
	return 0;
}
