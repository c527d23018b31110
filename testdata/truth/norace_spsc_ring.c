// verdict: synchronisation
// flags: -O2
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdatomic.h>

enum { SIZE = 16, COUNT = 400 };
static int slot[SIZE];
static atomic_uint head, tail;
static long sum;

static void push(int v) {
	unsigned h = atomic_load_explicit(&head, memory_order_relaxed);
	while (h - atomic_load_explicit(&tail, memory_order_acquire) == SIZE)
		;
	slot[h % SIZE] = v;
	atomic_store_explicit(&head, h + 1, memory_order_release);
}

static int pop(void) {
	unsigned t = atomic_load_explicit(&tail, memory_order_relaxed);
	while (t == atomic_load_explicit(&head, memory_order_acquire))
		;
	int v = slot[t % SIZE];
	atomic_store_explicit(&tail, t + 1, memory_order_release);
	return v;
}

static void *producer(void *arg) {
	for (int i = 0; i < COUNT; i++)
		push(i);
	return NULL;
}

static void *consumer(void *arg) {
	for (int i = 0; i < COUNT; i++)
		sum += pop();
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, producer, NULL);
	pthread_create(&b, NULL, consumer, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%ld\n", sum);
	return 0;
}
