// A mutex is used as a signal: who waits for it isn't who gives it up.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t done = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
	usleep(2000);
	pthread_mutex_unlock(&done); // finding: wrong-unlock
	return NULL;
}

int main(void) {
	pthread_t t;
	pthread_mutex_lock(&done);
	pthread_create(&t, NULL, worker, NULL);
	pthread_mutex_lock(&done);
	pthread_join(t, NULL);
	pthread_mutex_unlock(&done);
	puts("done");
	return 0;
}
