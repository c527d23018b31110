// Waiting for several futexes at once.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct waiter {
	uint64_t val, uaddr;
	uint32_t flags, zero;
};
static uint32_t words[4];
static uint32_t *shared;

static int waitv(struct waiter *w, int n, int flags, int ms, int clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	t.tv_nsec += ms * 1000000L;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	int r = syscall(449, w, n, flags, ms < 0 ? 0 : &t, clock);
	return r < 0 ? -errno : r;
}
static int wake(uint32_t *a, int op) { return syscall(SYS_futex, a, op, 1, 0, 0, 0); }

static void *waker(void *a) {
	long i = (long)a;
	usleep(20000);
	__atomic_store_n(&words[i], 1, __ATOMIC_SEQ_CST);
	while (wake(&words[i], FUTEX_WAKE_PRIVATE) == 0) usleep(1000);
	return 0;
}

int main(void) {
	struct waiter w[4];
	for (int i = 0; i < 4; i++) w[i] = (struct waiter){0, (uint64_t)&words[i], 2 | 128, 0};
	if (waitv(w, 4, 0, 5, CLOCK_MONOTONIC) == -ENOSYS) {
		puts("no futex_waitv");
		return 0;
	}
	printf("timeout %d %d\n", waitv(w, 4, 0, 5, CLOCK_MONOTONIC), waitv(w, 4, 0, 5, CLOCK_REALTIME));
	for (long i = 3; i >= 0; i -= 3) {
		pthread_t t;
		pthread_create(&t, 0, waker, (void *)i);
		int r = waitv(w, 4, 0, -1, CLOCK_MONOTONIC);
		pthread_join(t, 0);
		printf("woken %d\n", r);
		words[i] = 0;
	}
	words[2] = 5;
	printf("another value %d", waitv(w, 4, 0, -1, CLOCK_MONOTONIC));
	printf(" but not of these %d\n", waitv(w, 2, 0, 1, CLOCK_MONOTONIC));
	words[2] = 0;
	printf("flags %d number %d %d clock %d", waitv(w, 4, 1, 1, CLOCK_MONOTONIC), waitv(w, 0, 0, 1, CLOCK_MONOTONIC),
	       waitv(w, 129, 0, 1, CLOCK_MONOTONIC), waitv(w, 4, 0, 1, 7));
	w[1].flags = 0;
	printf(" size %d", waitv(w, 4, 0, 1, CLOCK_MONOTONIC));
	w[1] = w[0], w[1].zero = 1;
	printf(" zero %d", waitv(w, 4, 0, 1, CLOCK_MONOTONIC));
	w[1] = w[0], w[1].uaddr = 16;
	printf(" address %d\n", waitv(w, 4, 0, 1, CLOCK_MONOTONIC));
	shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	w[0].uaddr = (uint64_t)shared, w[0].flags = 2;
	w[1].uaddr = (uint64_t)&shared[8], w[1].flags = 2;
	fflush(stdout);
	pid_t p = fork();
	if (!p) {
		usleep(20000);
		while (wake(&shared[8], FUTEX_WAKE) == 0) usleep(1000);
		_exit(0);
	}
	printf("from a child %d\n", waitv(w, 2, 0, -1, CLOCK_MONOTONIC));
	waitpid(p, 0, 0);
}
