// verdict: harmful
// flags: -O1
// checker: +heap-overflow
// two threads may both find the last place free
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLACES = 5 };
static int *list;
static volatile int used;

static void put(int v) {
	if (used < PLACES) {
		list[used] = v;
		used++;
	}
}

static void *worker(void *arg) {
	for (volatile int i = 0; i < (long)arg; i++)
		;
	put(1);
	return NULL;
}

int main(void) {
	pthread_t a, b;
	list = calloc(PLACES, sizeof *list);
	for (int i = 0; i < PLACES - 1; i++)
		put(7);
	pthread_create(&a, NULL, worker, (void *)10L);
	pthread_create(&b, NULL, worker, (void *)60000L);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", list[0]);
	free(list);
	return 0;
}
