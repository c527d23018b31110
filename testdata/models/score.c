// A function with many instances: it returns 2, 3 or 5, and moves a total by
// as much. limit races, total doesn't.
#include <pthread.h>
#include <stdio.h>

static volatile int limit = 5;
static volatile long total[2];
static volatile int rate = 3;

__attribute__((noinline)) int score(int id, int i)
{
	int n = i % 2 ? 2 : rate;
	if (i % 10 == 0)
		n = limit;
	total[id] += n;
	return n;
}

static void *run(void *arg)
{
	long id = (long)arg, sum = 0;
	for (int i = 0; i < 60; i++)
		sum += score(id, i);
	return (void *)sum;
}

static void *change(void *arg)
{
	for (volatile int i = 0; i < 100; i++)
		;
	limit = 6;
	return NULL;
}

int main(void)
{
	pthread_t t[3];
	pthread_create(&t[0], NULL, run, (void *)0);
	pthread_create(&t[1], NULL, run, (void *)1);
	pthread_create(&t[2], NULL, change, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", limit);
	return 0;
}
