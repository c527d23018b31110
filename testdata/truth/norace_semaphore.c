// verdict: none
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <semaphore.h>

static sem_t full, empty;
static int box;
static long sum;

static void *put(void *arg) {
	for (int i = 0; i < 300; i++) {
		sem_wait(&empty);
		box = i;
		sem_post(&full);
	}
	return NULL;
}

static void *take(void *arg) {
	for (int i = 0; i < 300; i++) {
		sem_wait(&full);
		sum += box;
		sem_post(&empty);
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	sem_init(&full, 0, 0);
	sem_init(&empty, 0, 1);
	pthread_create(&a, NULL, put, NULL);
	pthread_create(&b, NULL, take, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%ld\n", sum);
	return 0;
}
