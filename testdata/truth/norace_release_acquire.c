// verdict: synchronisation
// flags: -O2
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdatomic.h>

static atomic_int ready;
static int payload[4];

static void *producer(void *arg) {
	for (volatile int i = 0; i < 3000; i++)
		;
	for (int i = 0; i < 4; i++)
		payload[i] = i + 1;
	atomic_store_explicit(&ready, 1, memory_order_release);
	return NULL;
}

static void *consumer(void *arg) {
	int sum = 0;
	while (!atomic_load_explicit(&ready, memory_order_acquire))
		;
	for (int i = 0; i < 4; i++)
		sum += payload[i];
	printf("%d\n", sum);
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, producer, NULL);
	pthread_create(&b, NULL, consumer, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
