/* Calls a function that will be selected, with much else before and after; it
   creates a thread, as does main. */
#include <pthread.h>
#include <stdio.h>

static volatile unsigned sink;

static void *spin(void *arg) {
	unsigned x = (unsigned)(long)arg;
	for (int i = 0; i < 100000; i++)
		x = x * 1664525 + 1013904223;
	sink = x;
	return NULL;
}

__attribute__((noinline)) unsigned chosen(unsigned n) {
	unsigned x = n;
	pthread_t t;
	if (n == 3) {
		pthread_create(&t, NULL, spin, (void *)3L);
		pthread_join(t, NULL);
	}
	for (unsigned i = 0; i < 1000; i++)
		x += i * sink;
	return x;
}

int main(void) {
	unsigned sum = 0;
	pthread_t t;
	for (unsigned n = 0; n < 6; n++) {
		if (n == 2) {
			pthread_create(&t, NULL, spin, (void *)2L);
			pthread_join(t, NULL);
		}
		for (int i = 0; i < 30; i++)
			spin((void *)1L);
		sum += chosen(n) != 0;
		sum += chosen(n) != 0;
	}
	printf("%u\n", sum);
	return 0;
}
