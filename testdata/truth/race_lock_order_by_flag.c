// verdict: harmful
// flags: -O1
// checker: +lock-order
// a flag that is set meanwhile decides in which order a thread takes two locks
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t stock = PTHREAD_MUTEX_INITIALIZER, orders = PTHREAD_MUTEX_INITIALIZER;
static int urgent;
static long moved;

static __attribute__((noinline)) void move(pthread_mutex_t *x, pthread_mutex_t *y) {
	pthread_mutex_lock(x);
	pthread_mutex_lock(y);
	moved++;
	pthread_mutex_unlock(y);
	pthread_mutex_unlock(x);
}

static void *clerk(void *arg) {
	for (int i = 0; i < 3; i++)
		move(&stock, &orders);
	return NULL;
}

static __attribute__((noinline)) void dispatch(void) {
	if (urgent)
		move(&orders, &stock);
	else
		move(&stock, &orders);
}

static void *dispatcher(void *arg) {
	for (volatile int k = 0; k < 500; k++)
		;
	dispatch();
	return NULL;
}

static void *boss(void *arg) {
	for (volatile int k = 0; k < 200000; k++)
		;
	urgent = 1;
	return NULL;
}

int main(void) {
	pthread_t t[3];
	void *(*f[3])(void *) = {clerk, dispatcher, boss};
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, f[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", moved);
	return 0;
}
