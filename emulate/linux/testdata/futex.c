// The futex call itself.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int a, b;
static int woken;

static long futex(int *w, int op, int val, void *to, int *w2, int v3) {
	long r = syscall(SYS_futex, w, op, val, to, w2, v3);
	return r < 0 ? -errno : r;
}

static void *waiter(void *arg) {
	int bits = (long)arg;
	long r = futex(&a, bits ? FUTEX_WAIT_BITSET_PRIVATE : FUTEX_WAIT_PRIVATE, 0, 0, 0, bits);
	__atomic_fetch_add(&woken, 1, __ATOMIC_SEQ_CST);
	return (void *)r;
}

static double now(clockid_t c) {
	struct timespec t;
	clock_gettime(c, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(void) {
	pthread_t t[4];
	void *r;
	setvbuf(stdout, 0, _IONBF, 0);
	printf("wrong value %ld\n", futex(&a, FUTEX_WAIT, 1, 0, 0, 0));
	struct timespec ts = {0, 5000000};
	double s = now(CLOCK_MONOTONIC);
	printf("relative %ld", futex(&a, FUTEX_WAIT_PRIVATE, 0, &ts, 0, 0));
	s = now(CLOCK_MONOTONIC) - s;
	printf(" %d\n", s > 0.0049 && s < 2);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += 1;
	s = now(CLOCK_MONOTONIC);
	printf("absolute %ld", futex(&a, FUTEX_WAIT_BITSET_PRIVATE, 0, &ts, 0, -1));
	s = now(CLOCK_MONOTONIC) - s;
	printf(" %d\n", s > 0.9 && s < 3);
	clock_gettime(CLOCK_REALTIME, &ts);
	printf("realtime %ld\n", futex(&a, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &ts, 0, -1));
	ts.tv_nsec = 2000000000;
	printf("bad time %ld misaligned %ld fault %ld\n", futex(&a, FUTEX_WAIT, 0, &ts, 0, 0),
	       futex((int *)((char *)&a + 1), FUTEX_WAIT, 0, 0, 0, 0), futex((int *)64, FUTEX_WAIT, 0, 0, 0, 0));
	printf("nobody %ld\n", futex(&a, FUTEX_WAKE, 10, 0, 0, 0));

	for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, waiter, (void *)(1 << i));
	usleep(80000);
	printf("bitset %ld\n", futex(&a, FUTEX_WAKE_BITSET_PRIVATE, 10, 0, 0, 2 | 8));
	usleep(80000);
	printf("woken %d\n", woken);
	printf("requeue %ld\n", futex(&a, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)5, &b, 0));
	usleep(80000);
	printf("woken %d left %ld\n", woken, futex(&a, FUTEX_WAKE_PRIVATE, 10, 0, 0, 0));
	printf("cmp %ld\n", futex(&a, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)5, &b, 7));
	printf("moved %ld\n", futex(&b, FUTEX_WAKE_PRIVATE, 10, 0, 0, 0));
	for (int i = 0; i < 4; i++) pthread_join(t[i], &r), printf("%ld ", (long)r);
	puts("");

	pthread_create(&t[0], 0, waiter, 0);
	usleep(80000);
	b = 5;
	printf("wake op %ld", futex(&b, FUTEX_WAKE_OP_PRIVATE, 1, (void *)1, &a, FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 0)));
	pthread_join(t[0], &r);
	printf(" %d %ld\n", a, (long)r);
	b = 0;
	printf("lock pi %ld %d", futex(&b, FUTEX_LOCK_PI, 0, 0, 0, 0), b == gettid());
	printf(" %ld", futex(&b, FUTEX_LOCK_PI, 0, 0, 0, 0));
	printf(" %ld", futex(&b, FUTEX_UNLOCK_PI, 0, 0, 0, 0));
	printf(" %d\n", b);
	printf("unknown %ld\n", futex(&a, 99, 0, 0, 0, 0));
	return 0;
}
