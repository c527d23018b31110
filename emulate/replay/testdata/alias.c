// One memory under two addresses, written and read through both, by two threads.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile long *a, *b;
static pthread_barrier_t bar;

static void *work(void *arg) {
	long sum = 0;
	for (int i = 0; i < 300; i++) {
		pthread_barrier_wait(&bar);
		b[i % 64] += i;
		sum += b[448 + i % 8]; // which only the other writes, there
		sum = sum * 3 + a[i % 64] + b[(i + 1) % 64];
		pthread_barrier_wait(&bar);
	}
	return (void *)sum;
}

int main(void) {
	int fd = memfd_create("shared", 0);
	ftruncate(fd, 4096);
	a = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	b = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	long sum = 0;
	for (int i = 0; i < 1000; i++) {
		a[i % 64] = i;
		b[(i * 7) % 64] += 3;
		sum = sum * 3 + b[i % 64] + a[(i * 7) % 64];
	}
	memcpy((void *)(a + 128), (void *)b, 512);
	sum += b[128 + 5];
	pthread_barrier_init(&bar, 0, 2);
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	for (int i = 0; i < 300; i++) {
		pthread_barrier_wait(&bar);
		pthread_barrier_wait(&bar);
		a[i % 64] ^= 5;
		a[448 + i % 8] += i;
		sum = sum * 5 + b[i % 64];
	}
	void *r;
	pthread_join(t, &r);
	printf("%ld %ld\n", sum, (long)r);
	return 0;
}
