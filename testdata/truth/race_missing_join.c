// verdict: harmful
// flags: -O1
// main prints what a thread computes without waiting for it
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int result;

static void *compute(void *arg) {
	int sum = 0;
	for (volatile int i = 0; i < 3000; i++)
		sum += i & 7;
	result = sum;
	return NULL;
}

static void show(void) {
	printf("%d\n", result);
}

int main(void) {
	pthread_t t;
	pthread_create(&t, NULL, compute, NULL);
	usleep(200000);
	show();
	pthread_join(t, NULL);
	return 0;
}
