// verdict: none
// flags: -O1
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int word; // 0 free, 1 held, 2 held and waited for
static long total;

static void lock(void) {
	int c = 0;
	if (atomic_compare_exchange_strong(&word, &c, 1))
		return;
	if (c != 2)
		c = atomic_exchange(&word, 2);
	while (c != 0) {
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
		c = atomic_exchange(&word, 2);
	}
}

static void unlock(void) {
	if (atomic_exchange(&word, 0) == 2)
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *add(void *arg) {
	for (int i = 0; i < 600; i++) {
		lock();
		total++;
		unlock();
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, add, NULL);
	pthread_create(&b, NULL, add, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%ld\n", total);
	return 0;
}
