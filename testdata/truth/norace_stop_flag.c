// verdict: synchronisation
// flags: -O2
// A thread works until it is told to stop, then uses what the other prepared:
// the flag orders the two, although the thread doesn't just wait for it.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int stop;
static int result[4];
static volatile int work;

static void *worker(void *unused) {
	while (!stop)
		for (int i = 0; i < 10; i++)
			work += i;
	printf("%d\n", result[0] + result[3]);
	return unused;
}

static void *teller(void *unused) {
	usleep(200);
	for (int i = 0; i < 4; i++)
		result[i] = i + 1;
	__asm__ volatile("" ::: "memory");
	stop = 1;
	return unused;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, teller, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
