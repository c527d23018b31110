// verdict: benign
// flags: -O0
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int configured;

static void *setup(void *arg) {
	for (int i = 0; i < 300; i++)
		configured = 1;
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, setup, NULL);
	pthread_create(&b, NULL, setup, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", configured);
	return 0;
}
