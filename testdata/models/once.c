// Two instances of a racing function.
#include <pthread.h>
#include <stdio.h>

static volatile int level;
static volatile int got[2];

__attribute__((noinline)) static int look(int id)
{
	int l = level;
	got[id] = l * 2;
	level = 7;
	return l;
}

static void *run(void *arg)
{
	return (void *)(long)look((long)arg);
}

int main(void)
{
	pthread_t t[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
