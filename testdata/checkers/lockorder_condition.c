// Waiting for a condition takes its mutex again while another lock is held.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int go;

static void *waiter(void *arg) {
	pthread_mutex_lock(&inner);
	pthread_mutex_lock(&outer); // finding: lock-order
	while (!go)
		pthread_cond_wait(&c, &outer);
	pthread_mutex_unlock(&outer);
	pthread_mutex_unlock(&inner);
	return NULL;
}

int main(void) {
	pthread_t t;
	pthread_create(&t, NULL, waiter, NULL);
	usleep(1000);
	pthread_mutex_lock(&outer);
	go = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&outer);
	usleep(5000);
	pthread_mutex_lock(&outer);
	pthread_mutex_lock(&inner);
	pthread_mutex_unlock(&inner);
	pthread_mutex_unlock(&outer);
	pthread_join(t, NULL);
	return 0;
}
