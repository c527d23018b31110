// verdict: harmful
// flags: -O1
// checker: +double-free
// both threads may find the buffer still there
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char *buffer;

static void drop(void) {
	if (buffer) {
		char *b = buffer;
		buffer = NULL;
		free(b);
	}
}

static void *worker(void *arg) {
	for (volatile int i = 0; i < (long)arg; i++)
		;
	drop();
	return NULL;
}

int main(void) {
	pthread_t a, b;
	buffer = malloc(100);
	pthread_create(&a, NULL, worker, (void *)10L);
	pthread_create(&b, NULL, worker, (void *)60000L);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts("dropped");
	return 0;
}
