// Threads with a mutex, a condition variable, atomics and a race.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 20000 };

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long locked, racy;
static atomic_long atom;
static int ready;

static void *work(void *arg) {
	pthread_mutex_lock(&mu);
	ready++;
	pthread_cond_broadcast(&cond);
	while (ready < THREADS)
		pthread_cond_wait(&cond, &mu);
	pthread_mutex_unlock(&mu);
	for (int i = 0; i < ROUNDS; i++) {
		__asm__ volatile("addq $1, %0" : "+m"(racy));
		atomic_fetch_add(&atom, 1);
		if (i % 16 == 0) {
			pthread_mutex_lock(&mu);
			locked++;
			char *p = malloc(100 + i % 1000);
			p[i % 100] = 1;
			free(p);
			pthread_mutex_unlock(&mu);
		}
	}
	return arg;
}

int main(void) {
	pthread_t t[THREADS];
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	long sum = 0;
	for (int i = 0; i < THREADS; i++) {
		void *r;
		pthread_join(t[i], &r);
		sum += (long)r;
	}
	printf("%ld %ld %ld\n", locked, atomic_load(&atom), sum);
	fprintf(stderr, "lost %ld\n", THREADS * ROUNDS - racy);
	return racy > THREADS * ROUNDS;
}
