// The mutex is forgotten before the wait.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;

static void *worker(void *arg) {
	usleep(2000);
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	return NULL;
}

int main(void) {
	pthread_t t;
	pthread_create(&t, NULL, worker, NULL);
	while (!__atomic_load_n(&ready, __ATOMIC_SEQ_CST))
		pthread_cond_wait(&c, &m); // finding: wait-without-lock
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
	puts("done");
	return 0;
}
