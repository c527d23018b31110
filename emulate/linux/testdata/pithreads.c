// Contended priority-inheritance locks and process-shared ones in shared memory.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct shared {
	pthread_mutex_t m;
	pthread_cond_t c;
	long n;
};
static struct shared *a, *b;
static pthread_mutex_t pi;
static long count;

static void *contend(void *arg) {
	for (int i = 0; i < 3000; i++) {
		pthread_mutex_lock(&pi);
		count++;
		pthread_mutex_unlock(&pi);
	}
	return 0;
}

static void *other(void *arg) {
	for (int i = 0; i < 500; i++) {
		pthread_mutex_lock(&b->m);
		while (b->n % 2 == 0) pthread_cond_wait(&b->c, &b->m);
		b->n++;
		pthread_cond_signal(&b->c);
		pthread_mutex_unlock(&b->m);
	}
	return 0;
}

int main(void) {
	pthread_mutexattr_t at;
	pthread_condattr_t ct;
	pthread_t t[3];
	pthread_mutexattr_init(&at);
	pthread_mutexattr_setprotocol(&at, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&pi, &at);
	for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, contend, 0);
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	printf("%ld\n", count);

	int fd = memfd_create("shared", 0);
	if (ftruncate(fd, 4096)) return 1;
	a = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	b = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pthread_mutexattr_init(&at);
	pthread_mutexattr_setpshared(&at, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&a->m, &at);
	pthread_condattr_init(&ct);
	pthread_condattr_setpshared(&ct, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&a->c, &ct);
	pthread_create(&t[0], 0, other, 0);
	for (int i = 0; i < 500; i++) {
		pthread_mutex_lock(&a->m);
		while (a->n % 2 == 1) pthread_cond_wait(&a->c, &a->m);
		a->n++;
		pthread_cond_signal(&a->c);
		pthread_mutex_unlock(&a->m);
	}
	pthread_join(t[0], 0);
	printf("%ld %d\n", b->n, a != b);
	return 0;
}
