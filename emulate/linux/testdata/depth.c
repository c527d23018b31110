// Bugs that need other threads to be held up at certain places. With argument
// 2: one thread is held up once, for as long as the other takes (a bug of depth
// 2); with 3: each is held up once (depth 3). Exits with 1 if it happened.
#include <pthread.h>
#include <stdlib.h>

static volatile int generation, open, happened;
static volatile long sink;

static void work(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
}

static void *looks(void *arg)
{
	for (int i = 0; i < 10; i++) {
		int before = generation;
		work(300);
		if (generation - before >= 2) // a whole life of the other
			happened = 1;
	}
	return arg;
}

static void *changes(void *arg)
{
	generation++;
	work(10000);
	generation++;
	return arg;
}

static void *opens(void *arg)
{
	work(100);
	open = 1;
	work(2000);
	generation = 1;
	open = 2;
	return arg;
}

static void *enters(void *arg)
{
	work(100);
	if (open == 1) {
		int before = generation;
		work(2000);
		if (open == 2 && before == 0 && generation == 1)
			happened = 1;
	}
	return arg;
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t t[2];
	pthread_create(&t[0], NULL, depth == 2 ? looks : opens, NULL);
	pthread_create(&t[1], NULL, depth == 2 ? changes : enters, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return happened;
}
