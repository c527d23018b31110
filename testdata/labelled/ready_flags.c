// verdict: synchronisation
// race part: none
#include "threads.h"

static volatile char ready[3];
static int part[3];

static void *work(void *arg) {
	long me = (long)arg;
	for (int i = 0; i < 100; i++) part[me] += i;
	__asm__ volatile("" ::: "memory");
	ready[me] = 1;
	return 0;
}

int main(void) {
	pthread_t t[3];
	for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, work, (void *)i);
	int sum = 0;
	for (int i = 0; i < 3; i++) {
		while (!ready[i]) usleep(1);
		__asm__ volatile("" ::: "memory");
		sum += part[i];
	}
	printf("%d\n", sum);
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	return 0;
}
