// verdict: benign
// flags: -O1
// a worker that counts under a lock until it is told to stop: how far it comes
// is nobody's fault
#include <pthread.h>
#include <stdio.h>

static volatile int stop;
static int items;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
	while (!stop) {
		pthread_mutex_lock(&mu);
		items++;
		pthread_mutex_unlock(&mu);
	}
	return NULL;
}

static void *control(void *arg) {
	for (volatile int i = 0; i < 5000; i++)
		;
	stop = 1;
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, control, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts(items >= 0 ? "stopped" : "overflow");
	return 0;
}
