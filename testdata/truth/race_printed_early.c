// verdict: harmful
// flags: -O1
// What is printed depends on how far the other thread got; the thread that prints
// then waits for it, and goes on waiting in an experiment.
#include <pthread.h>
#include <stdio.h>

static volatile long total;

static void *work(void *unused) {
	for (int i = 1; i <= 500; i++)
		total += i;
	return unused;
}

int main(void) {
	pthread_t t;
	pthread_create(&t, NULL, work, NULL);
	for (volatile int i = 0; i < 300; i++)
		;
	fprintf(stderr, "total %ld\n", total);
	pthread_join(t, NULL);
	puts("done");
	return 0;
}
