// verdict: harmful
// flags: -O1
// the total is read before the workers are joined, by a function that is long
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile long part[2];

static void *work(void *arg) {
	long me = (long)arg;
	for (int i = 1; i <= 500; i++)
		part[me] += i;
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, work, (void *)0L);
	pthread_create(&b, NULL, work, (void *)1L);
	pthread_join(a, NULL);
	usleep(200000);
	for (volatile int k = 0; k < 500000; k++)
		;
	printf("%ld\n", part[0] + part[1]);
	pthread_join(b, NULL);
	return 0;
}
