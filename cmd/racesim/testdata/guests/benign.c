// Both threads write the same value: a race without harm.
#include <pthread.h>
#include <stdio.h>

int same;

static void *work(void *arg)
{
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
	printf("same %d\n", same);
	return 0;
}
