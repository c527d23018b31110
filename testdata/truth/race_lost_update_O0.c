// verdict: harmful
// flags: -O0
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int hits;

static void *count(void *arg) {
	for (int i = 0; i < 2000; i++)
		hits++;
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, count, NULL);
	pthread_create(&b, NULL, count, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", hits <= 4000);
	return 0;
}
