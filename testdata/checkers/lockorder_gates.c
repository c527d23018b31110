// Opposite orders under a common lock: in order if it is a mutex, or if one of
// them writes under it, and not if both only read.
#include <pthread.h>
#include <unistd.h>

static pthread_rwlock_t world = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER,
                       c = PTHREAD_MUTEX_INITIALIZER, d = PTHREAD_MUTEX_INITIALIZER, e = PTHREAD_MUTEX_INITIALIZER,
                       f = PTHREAD_MUTEX_INITIALIZER;

static void both(pthread_mutex_t *x, pthread_mutex_t *y) {
	pthread_mutex_lock(x);
	pthread_mutex_lock(y);
	pthread_mutex_unlock(y);
	pthread_mutex_unlock(x);
}

static void *first(void *arg) {
	pthread_mutex_lock(&gate);
	both(&a, &b);
	pthread_mutex_unlock(&gate);
	pthread_rwlock_rdlock(&world);
	pthread_mutex_lock(&c);
	pthread_mutex_lock(&d); // finding: lock-order
	pthread_mutex_unlock(&d);
	pthread_mutex_unlock(&c);
	both(&e, &f);
	pthread_rwlock_unlock(&world);
	return NULL;
}

static void *second(void *arg) {
	sleep(1);
	pthread_mutex_lock(&gate);
	both(&b, &a);
	pthread_mutex_unlock(&gate);
	pthread_rwlock_rdlock(&world);
	pthread_mutex_lock(&d);
	pthread_mutex_lock(&c);
	pthread_mutex_unlock(&c);
	pthread_mutex_unlock(&d);
	pthread_rwlock_unlock(&world);
	pthread_rwlock_wrlock(&world);
	both(&f, &e);
	pthread_rwlock_unlock(&world);
	return NULL;
}

int main(void) {
	pthread_t t, u;
	pthread_create(&t, NULL, first, NULL);
	pthread_create(&u, NULL, second, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
