// verdict: synchronisation
// all wait for the start
// race prepared: none
#include "threads.h"

static volatile int go;
static int prepared, sums[3];

static void *runner(void *arg) {
	while (!go);
	__asm__ volatile("" ::: "memory");
	sums[(long)arg] = prepared * 2;
	return 0;
}

int main(void) {
	pthread_t t[3];
	for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, runner, (void *)i);
	prepared = 21;
	__asm__ volatile("" ::: "memory");
	go = 1;
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	printf("%d\n", sums[0] + sums[1] + sums[2]);
	return 0;
}
