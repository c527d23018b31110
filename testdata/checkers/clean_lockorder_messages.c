// flags: -O1
// findings: none
// locks are taken in both orders, but a barrier, a condition or a semaphore keeps them apart
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static pthread_mutex_t a[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t b[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t bar;
static sem_t sem;
static int waits;

static void both(pthread_mutex_t *x, pthread_mutex_t *y) {
	pthread_mutex_lock(x);
	pthread_mutex_lock(y);
	pthread_mutex_unlock(y);
	pthread_mutex_unlock(x);
}

static void *first(void *arg) {
	both(&a[0], &b[0]);
	pthread_barrier_wait(&bar);
	pthread_barrier_wait(&bar);
	both(&a[1], &b[1]);
	sem_post(&sem);
	for (int ready = 0; !ready;) { // until the other one waits
		pthread_mutex_lock(&m);
		ready = waits;
		pthread_mutex_unlock(&m);
	}
	both(&a[2], &b[2]);
	pthread_mutex_lock(&m);
	waits = 2;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	return NULL;
}

static void *second(void *arg) {
	pthread_barrier_wait(&bar);
	both(&b[0], &a[0]);
	pthread_barrier_wait(&bar);
	sem_wait(&sem);
	both(&b[1], &a[1]);
	pthread_mutex_lock(&m);
	waits = 1;
	while (waits != 2)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	both(&b[2], &a[2]);
	return NULL;
}

int main(void) {
	pthread_t t[2];
	pthread_barrier_init(&bar, NULL, 2);
	sem_init(&sem, 0, 0);
	pthread_create(&t[0], NULL, first, NULL);
	pthread_create(&t[1], NULL, second, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	printf("done\n");
	return 0;
}
