// Threads change a table of small records, each with a lock of its own, count
// in atomics, and read a shared array meanwhile. The argument is the number of
// accesses, without those of the lock functions.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, RECORDS = 65536, TABLE = 1 << 18, WORK = 24 };
struct record {
	pthread_mutex_t lock;
	long balance, changes;
};
static struct record *records;
static unsigned *table;
static atomic_long done, hits[64];
static long steps;

static void *work(void *arg)
{
	unsigned x = 1 + (unsigned)(long)arg;
	long sum = 0;
	for (long i = 0; i < steps; i++) {
		x = x * 1664525 + 1013904223;
		struct record *r = &records[x >> 16];
		pthread_mutex_lock(&r->lock);
		r->balance += x >> 24;
		r->changes++;
		pthread_mutex_unlock(&r->lock);
		for (int k = 0; k < WORK; k++)
			sum += table[(x >> 8) + k & TABLE - 1];
		if (i % 8 == 0)
			atomic_fetch_add(&hits[x >> 26], 1);
	}
	atomic_fetch_add(&done, 1);
	return (void *)sum;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	long sum = 0;
	long each = THREADS * (WORK + 4L);
	steps = ((argc > 1 ? atol(argv[1]) : 100000000) + each - 1) / each;
	records = calloc(RECORDS, sizeof *records);
	table = malloc(TABLE * sizeof *table);
	for (int i = 0; i < RECORDS; i++)
		pthread_mutex_init(&records[i].lock, NULL);
	for (int i = 0; i < TABLE; i++)
		table[i] = i * 2654435761u;
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		void *v;
		pthread_join(t[i], &v);
		sum += (long)v;
	}
	for (int i = 0; i < RECORDS; i++)
		sum = sum * 31 + records[i].balance;
	printf("%ld accesses, sum %ld, %ld done\n", steps * each, sum, atomic_load(&done));
	return 0;
}
