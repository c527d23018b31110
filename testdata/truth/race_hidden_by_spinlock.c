// verdict: harmful
// flags: -O1
// A lock made by hand, which no function's name gives away, hides the race.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int taken;
static int stats, total;

static void lock(void) {
	int free = 0;
	while (!atomic_compare_exchange_weak(&taken, &free, 1))
		free = 0;
}

static void unlock(void) { atomic_store_explicit(&taken, 0, memory_order_release); }

static void *early(void *unused) {
	total += 3;
	lock();
	stats++;
	unlock();
	return unused;
}

static void *late(void *unused) {
	usleep(10000);
	lock();
	stats += 2;
	unlock();
	total += 7;
	return unused;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, early, NULL);
	pthread_create(&b, NULL, late, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", (total > 0) + stats);
	return 0;
}
