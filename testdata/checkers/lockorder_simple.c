// Two threads take two mutexes in opposite orders.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *one(void *arg) {
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&b); // finding: lock-order
	x++;
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	return NULL;
}

static void *two(void *arg) {
	usleep(1000);
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
	x++;
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return NULL;
}

int main(void) {
	pthread_t t, u;
	pthread_create(&t, NULL, one, NULL);
	pthread_create(&u, NULL, two, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
