// Code that is written at run time, by the thread that runs it and by another.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static unsigned char *page;
static atomic_int turn;

static void put(int at, int v) {
	unsigned char c[] = {0xb8, v, v >> 8, 0, 0, 0xc3}; // mov $v, %eax; ret
	memcpy(page + at, c, sizeof c);
}
static int call(int at) { return ((int (*)(void))(page + at))(); }

static void *other(void *arg) {
	long sum = 0;
	for (int i = 0; i < 50; i++) {
		while (atomic_load(&turn) != 2 * i + 1)
			;
		sum = sum * 3 + call(64);
		put(128, 1000 + i);
		sum += call(128);
		atomic_store(&turn, 2 * i + 2);
	}
	return (void *)sum;
}

int main(void) {
	page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long sum = 0;
	for (int i = 0; i < 100; i++) {
		put(0, i);
		sum = sum * 7 + call(0);
	}
	pthread_t t;
	pthread_create(&t, 0, other, 0);
	for (int i = 0; i < 50; i++) {
		put(64, i * 5);
		sum = sum * 5 + call(64);
		atomic_store(&turn, 2 * i + 1);
		while (atomic_load(&turn) != 2 * i + 2)
			;
		sum += call(128);
	}
	void *r;
	pthread_join(t, &r);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	put(0, 77);
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	sum += call(0);
	printf("%ld %ld\n", sum, (long)r);
	return 0;
}
