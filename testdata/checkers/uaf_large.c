// A freed block that is larger than the allocator's small ones, read far from
// its start and near it by several threads.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int *table;
static long out[2];

static void *scan(void *arg) {
	long i = (long)arg;
	for (int k = 100; k < 1000; k++)
		out[i] += table[k] & 1; // finding: use-after-free
	return NULL;
}

int main(void) {
	table = malloc(2000 * sizeof *table);
	for (int i = 0; i < 2000; i++)
		table[i] = i;
	free(table);
	pthread_t t, u;
	pthread_create(&t, NULL, scan, (void *)0);
	pthread_create(&u, NULL, scan, (void *)1);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	puts("done");
	return 0;
}
