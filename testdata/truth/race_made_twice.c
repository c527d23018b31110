// verdict: harmful
// flags: -O1
// checker: +leak
// seeds: 20
// two threads may both make the table; one of them is lost
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int *table;

static int *get(void) {
	if (!table)
		table = calloc(8, sizeof *table);
	return table;
}

static void *worker(void *arg) {
	char *volatile own = malloc(100); // of its own arena
	own[0] = 1;
	for (volatile int i = 0; i < (long)arg; i++)
		;
	get();
	free(own);
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, worker, (void *)10L);
	pthread_create(&b, NULL, worker, (void *)60000L);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", table[0]);
	free(table);
	return 0;
}
