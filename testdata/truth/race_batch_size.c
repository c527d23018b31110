// verdict: benign
// flags: -O1
// With the value 0, which it never has, the reader would wait for ever.
#include <pthread.h>
#include <stdio.h>

static volatile int batch = 4;
static long sum;

static void *work(void *unused) {
	for (int i = 0; i < 400;) {
		int n = batch;
		for (int k = 0; k < n && i < 400; k++, i++)
			sum += i;
	}
	return unused;
}

static void *tune(void *unused) {
	for (int i = 0; i < 60; i++)
		batch = 1 + i % 8;
	return unused;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, work, NULL);
	pthread_create(&b, NULL, tune, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%ld\n", sum);
	return 0;
}
