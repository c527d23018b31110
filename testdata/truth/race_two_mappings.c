// verdict: harmful
// flags: -O1
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int *one, *two_;

static void *left(void *arg) {
	for (int i = 0; i < 2000; i++)
		*one += 1;
	return NULL;
}

static void *right(void *arg) {
	for (int i = 0; i < 2000; i++)
		*two_ += 1;
	return NULL;
}

int main(void) {
	pthread_t a, b;
	int fd = memfd_create("counter", 0);
	if (fd < 0 || ftruncate(fd, 4096))
		return 2;
	one = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	two_ = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pthread_create(&a, NULL, left, NULL);
	pthread_create(&b, NULL, right, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", *one <= 4000);
	return 0;
}
