// verdict: harmful
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *adder(void *arg) {
	int *sum = arg;
	for (int i = 0; i < 2000; i++)
		*(volatile int *)sum += 1;
	return NULL;
}

int main(void) {
	pthread_t a, b;
	int sum = 0;
	pthread_create(&a, NULL, adder, &sum);
	pthread_create(&b, NULL, adder, &sum);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", sum <= 4000);
	return 0;
}
