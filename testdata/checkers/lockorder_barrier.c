// flags: -O1
// Barriers and a semaphore keep nobody apart here: what is taken in both orders
// is taken between the same barriers, or whoever has the semaphore first.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t x = PTHREAD_MUTEX_INITIALIZER, y = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t bar;
static sem_t sem;

static void *work(void *arg) {
	for (int i = 0; i < 3; i++) {
		pthread_barrier_wait(&bar);
		if (arg) {
			pthread_mutex_lock(&a);
			pthread_mutex_lock(&b); // finding: lock-order
			pthread_mutex_unlock(&b);
			pthread_mutex_unlock(&a);
		} else {
			pthread_mutex_lock(&b);
			pthread_mutex_lock(&a);
			pthread_mutex_unlock(&a);
			pthread_mutex_unlock(&b);
		}
		pthread_barrier_wait(&bar);
	}
	if (arg) {
		pthread_mutex_lock(&x);
		pthread_mutex_lock(&y); // finding: lock-order
		pthread_mutex_unlock(&y);
		pthread_mutex_unlock(&x);
	}
	sem_wait(&sem);
	sem_post(&sem);
	if (!arg) {
		pthread_mutex_lock(&y);
		pthread_mutex_lock(&x);
		pthread_mutex_unlock(&x);
		pthread_mutex_unlock(&y);
	}
	return NULL;
}

int main(void) {
	pthread_t t[2];
	pthread_barrier_init(&bar, NULL, 2);
	sem_init(&sem, 0, 1);
	pthread_create(&t[0], NULL, work, &bar);
	pthread_create(&t[1], NULL, work, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	printf("done\n");
	return 0;
}
