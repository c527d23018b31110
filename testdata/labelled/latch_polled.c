// verdict: synchronisation
// a count goes down under a lock, and is polled without it
// race part: none
#include "threads.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static volatile int left = 3;
static int part[3];

static void *work(void *arg) {
	part[(long)arg] = 7;
	pthread_mutex_lock(&mu);
	left = left - 1;
	pthread_mutex_unlock(&mu);
	return 0;
}

int main(void) {
	pthread_t t[3];
	for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, work, (void *)i);
	while (left > 0) usleep(1);
	__asm__ volatile("" ::: "memory");
	printf("%d\n", part[0] + part[1] + part[2]);
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	return 0;
}
