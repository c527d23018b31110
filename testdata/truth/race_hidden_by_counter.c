// verdict: harmful
// flags: -O2
// A counter of calls, kept by atomic instructions, orders the two by accident.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int calls;
static int total;

static void *early(void *unused) {
	total += 3;
	atomic_fetch_add(&calls, 1);
	return unused;
}

static void *late(void *unused) {
	usleep(10000);
	atomic_fetch_add(&calls, 1);
	total += 7;
	return unused;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, early, NULL);
	pthread_create(&b, NULL, late, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", total > 0);
	return 0;
}
