// Threads sweep over one array in blocks, each under its lock: all memory is
// shared, and each byte is touched by each thread, in each round.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, BLOCKS = 256, WORDS = 4096 };
static long *data;
static pthread_mutex_t locks[BLOCKS];
static long rounds;

static void *sweep(void *arg)
{
	long me = (long)arg;
	for (long r = 0; r < rounds; r++)
		for (int i = 0; i < BLOCKS; i++) {
			int b = (i + me * BLOCKS / THREADS) % BLOCKS;
			long *p = data + (long)b * WORDS;
			pthread_mutex_lock(&locks[b]);
			for (int k = 0; k < WORDS; k++)
				p[k] = p[k] * 3 + me + r;
			pthread_mutex_unlock(&locks[b]);
		}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	long sum = 0;
	long perRound = 2L * THREADS * BLOCKS * WORDS;
	rounds = ((argc > 1 ? atol(argv[1]) : 100000000) + perRound - 1) / perRound;
	data = calloc((long)BLOCKS * WORDS, sizeof *data);
	for (int i = 0; i < BLOCKS; i++)
		pthread_mutex_init(&locks[i], NULL);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, sweep, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (long i = 0; i < (long)BLOCKS * WORDS; i++)
		sum = sum * 31 + data[i];
	printf("%ld accesses, sum %ld\n", rounds * perRound, sum);
	return 0;
}
