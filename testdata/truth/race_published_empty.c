// verdict: harmful
// flags: -O1
// checker: +uninitialised-read
// an order is published before it is filled in; the memory happens to hold zeros
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct order {
	long amount;
	long kind;
};

static struct order *volatile current;
static long total;

static __attribute__((noinline)) void publish(void) {
	struct order *o = malloc(sizeof *o);
	current = o;
	o->amount = 5;
	o->kind = 1;
}

static __attribute__((noinline)) void add(void) {
	struct order *o = current;
	if (o)
		total += o->amount;
}

static void *producer(void *arg) {
	char *volatile own = malloc(64); // of its own arena
	own[0] = 1;
	publish();
	free(own);
	return NULL;
}

static void *consumer(void *arg) {
	for (volatile int k = 0; k < 20000; k++)
		;
	add();
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, producer, NULL);
	pthread_create(&b, NULL, consumer, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%s\n", total > 100 ? "many" : "few");
	free(current);
	return 0;
}
