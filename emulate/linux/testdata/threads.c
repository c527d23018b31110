// pthreads: everything that waits and wakes.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N = 4, ROUNDS = 2000 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t bar;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static __thread int local;
static long sum, onces, turn, atomic;
static pthread_key_t key;

static void init(void) { onces++; }
static void gone(void *p) { __atomic_fetch_add((long *)p, 1, __ATOMIC_SEQ_CST); }

static void *work(void *arg) {
	long id = (long)arg;
	static long destroyed;
	pthread_setspecific(key, &destroyed);
	pthread_once(&once, init);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&m);
		sum++;
		pthread_mutex_unlock(&m);
		__atomic_fetch_add(&atomic, 2, __ATOMIC_RELAXED);
		local++;
	}
	pthread_barrier_wait(&bar);
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&m);
		while (turn % N != id) pthread_cond_wait(&c, &m);
		turn++;
		pthread_cond_broadcast(&c);
		pthread_mutex_unlock(&m);
	}
	for (int i = 0; i < 50; i++) {
		if (i % 10 == id) {
			pthread_rwlock_wrlock(&rw);
			sum++;
		} else {
			pthread_rwlock_rdlock(&rw);
		}
		pthread_rwlock_unlock(&rw);
	}
	sem_post(&sem);
	return (void *)(id * 100 + (local == ROUNDS));
}

static void *cancelled(void *arg) {
	pthread_cleanup_push((void (*)(void *))puts, "cleaned up");
	for (;;) pause();
	pthread_cleanup_pop(0);
	return 0;
}

static void *robust(void *arg) {
	pthread_mutex_lock(arg);
	return 0;
}

int main(void) {
	pthread_t t[N];
	void *r;
	setvbuf(stdout, 0, _IONBF, 0);
	pthread_barrier_init(&bar, 0, N);
	sem_init(&sem, 0, 0);
	pthread_key_create(&key, gone);
	for (long i = 0; i < N; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < N; i++) sem_wait(&sem);
	for (int i = 0; i < N; i++) {
		pthread_join(t[i], &r);
		printf("thread %d: %ld\n", i, (long)r);
	}
	printf("sum %ld onces %ld turn %ld atomic %ld\n", sum, onces, turn, atomic);

	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += 20000000;
	if (ts.tv_nsec >= 1000000000) ts.tv_sec++, ts.tv_nsec -= 1000000000;
	pthread_mutex_lock(&m);
	printf("timedwait %s\n", strerror(pthread_cond_timedwait(&c, &m, &ts)));
	printf("timedlock %s\n", strerror(pthread_mutex_timedlock(&rw == 0 ? 0 : &m, &ts)));
	pthread_mutex_unlock(&m);
	printf("semtimed %d %s\n", sem_timedwait(&sem, &ts), strerror(errno));

	pthread_create(&t[0], 0, cancelled, 0);
	usleep(1000);
	pthread_cancel(t[0]);
	pthread_join(t[0], &r);
	printf("cancelled %d\n", r == PTHREAD_CANCELED);

	pthread_mutexattr_t a;
	pthread_mutex_t rm, pi, rec;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&rm, &a);
	pthread_create(&t[0], 0, robust, &rm);
	pthread_join(t[0], 0);
	printf("robust %s\n", strerror(pthread_mutex_lock(&rm)));
	pthread_mutex_consistent(&rm);
	pthread_mutex_unlock(&rm);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&pi, &a);
	printf("pi %d %d\n", pthread_mutex_lock(&pi), pthread_mutex_unlock(&pi));
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&rec, &a);
	printf("recursive %d %d\n", pthread_mutex_lock(&rec), pthread_mutex_lock(&rec));

	char name[16];
	pthread_setname_np(pthread_self(), "a-rather-long-n");
	pthread_getname_np(pthread_self(), name, sizeof name);
	puts(name);
	pthread_attr_t at;
	void *addr;
	size_t size;
	pthread_getattr_np(pthread_self(), &at);
	pthread_attr_getstack(&at, &addr, &size);
	printf("on my stack %d\n", (char *)&at > (char *)addr && (char *)&at < (char *)addr + size);
	sched_yield();
	return 0;
}
