// Lock orders that look bad and can't deadlock: under a common gate, by
// attempts, by readers, recursively, and in threads that never meet.
// findings: none
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER,
	c = PTHREAD_MUTEX_INITIALIZER, d = PTHREAD_MUTEX_INITIALIZER, e = PTHREAD_MUTEX_INITIALIZER, f = PTHREAD_MUTEX_INITIALIZER, rec;
static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER, s = PTHREAD_RWLOCK_INITIALIZER;
static int n;

static void *one(void *arg) {
	pthread_mutex_lock(&gate);
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&b);
	n++;
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&gate);
	pthread_mutex_lock(&c);
	if (!pthread_mutex_trylock(&d))
		pthread_mutex_unlock(&d);
	pthread_mutex_unlock(&c);
	pthread_rwlock_rdlock(&r);
	pthread_rwlock_rdlock(&s);
	pthread_rwlock_unlock(&s);
	pthread_rwlock_unlock(&r);
	pthread_mutex_lock(&rec);
	pthread_mutex_lock(&e);
	pthread_mutex_lock(&rec);
	pthread_mutex_unlock(&rec);
	pthread_mutex_unlock(&e);
	pthread_mutex_unlock(&rec);
	return NULL;
}

static void *two(void *arg) {
	pthread_mutex_lock(&gate);
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
	n++;
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&gate);
	pthread_mutex_lock(&d);
	if (!pthread_mutex_trylock(&c))
		pthread_mutex_unlock(&c);
	pthread_mutex_unlock(&d);
	pthread_rwlock_rdlock(&s);
	pthread_rwlock_rdlock(&r);
	pthread_rwlock_unlock(&r);
	pthread_rwlock_unlock(&s);
	return NULL;
}

static void *early(void *arg) {
	pthread_mutex_lock(&e);
	pthread_mutex_lock(&f);
	pthread_mutex_unlock(&f);
	pthread_mutex_unlock(&e);
	return NULL;
}

static void *late(void *arg) {
	pthread_mutex_lock(&f);
	pthread_mutex_lock(&e);
	pthread_mutex_unlock(&e);
	pthread_mutex_unlock(&f);
	return NULL;
}

int main(void) {
	pthread_mutexattr_t at;
	pthread_mutexattr_init(&at);
	pthread_mutexattr_settype(&at, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&rec, &at);
	pthread_t t, u;
	pthread_create(&t, NULL, one, NULL);
	pthread_create(&u, NULL, two, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	pthread_create(&t, NULL, early, NULL);
	pthread_join(t, NULL);
	pthread_create(&u, NULL, late, NULL);
	pthread_join(u, NULL);
	late(NULL);
	printf("%d\n", n);
	return 0;
}
