// A function reads what another thread adds to, again and again, beside a
// variable on the same line that only the reader's own thread knows.
#include <pthread.h>
#include <stdio.h>

static struct {
	volatile long total;
	volatile long own;
} shared __attribute__((aligned(64)));
static volatile long before;

__attribute__((noinline)) static long watch(void) {
	long changes = 0, last = shared.total;
	before = last;
	for (int i = 0; i < 200000; i++) {
		long now = shared.total; // read
		shared.own++;
		if (now != last)
			changes++;
		last = now;
	}
	return changes;
}

static void *adder(void *p) {
	for (int i = 0; i < 20000; i++)
		shared.total += 3; // update
	return NULL;
}

int main(void) {
	pthread_t t;
	pthread_create(&t, NULL, adder, NULL);
	long n = watch();
	pthread_join(t, NULL);
	fprintf(stderr, "%ld changes\n", n);
	return 0;
}
