// verdict: none
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
static int queue[64], head, tail;
static long sum;

static void *producer(void *arg) {
	for (int i = 0; i < 300; i++) {
		pthread_mutex_lock(&mu);
		while (head - tail == 64)
			pthread_cond_wait(&cv, &mu);
		queue[head++ % 64] = i;
		pthread_cond_broadcast(&cv);
		pthread_mutex_unlock(&mu);
	}
	return NULL;
}

static void *consumer(void *arg) {
	for (int i = 0; i < 300; i++) {
		pthread_mutex_lock(&mu);
		while (head == tail)
			pthread_cond_wait(&cv, &mu);
		sum += queue[tail++ % 64];
		pthread_cond_broadcast(&cv);
		pthread_mutex_unlock(&mu);
	}
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
