// verdict: synchronisation
// flags: -O2
// waits by sleeping: a cancellation point, which changes the thread's own
// control block and changes it back
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int finished;
static int result[8];

static void *work(void *arg) {
	for (int i = 0; i < 8; i++)
		result[i] = i * i;
	__asm__ volatile("" ::: "memory");
	finished = 1;
	return NULL;
}

int main(void) {
	pthread_t t;
	int sum = 0;
	pthread_create(&t, NULL, work, NULL);
	while (!finished)
		usleep(20);
	for (int i = 0; i < 8; i++)
		sum += result[i];
	printf("%d\n", sum);
	pthread_join(t, NULL);
	return 0;
}
