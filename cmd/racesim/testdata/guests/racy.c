// Two threads count without a lock: updates get lost. Both write the same
// value to another variable, which does no harm.
#include <pthread.h>
#include <stdio.h>

volatile long counter;
int same;

static void *work(void *arg)
{
	for (int i = 0; i < 500; i++)
		counter++; // racy
	same = 1;
	return arg;
}

int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	puts("counted");
	return 0;
}
