// verdict: none
// flags: -O1
// Atomic loads and stores that order nothing. They are plain instructions, of
// plain variables: only the source says that they are atomic.
#include <pthread.h>
#include <stdio.h>

static int stop, level, seen;

static void *worker(void *arg) {
	long n = 0;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED) && n < 2000) {
		seen |= __atomic_load_n(&level, __ATOMIC_RELAXED) > 9;
		n++;
	}
	return NULL;
}

int main(void) {
	pthread_t t;
	pthread_create(&t, NULL, worker, NULL);
	for (int i = 0; i < 5; i++)
		__atomic_store_n(&level, i, __ATOMIC_RELAXED);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
	printf("%d\n", seen);
	return 0;
}
