// verdict: synchronisation
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int flag;
static int data;

static void *producer(void *arg) {
	for (volatile int i = 0; i < 5000; i++)
		;
	data = 42;
	flag = 1;
	return NULL;
}

static void *consumer(void *arg) {
	while (!flag)
		;
	printf("%d\n", data);
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
