// verdict: none
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t bar;
static int cell[2], out[2];

static void *step(void *arg) {
	long me = (long)arg;
	for (int i = 0; i < 100; i++) {
		cell[me] = i;
		pthread_barrier_wait(&bar);
		out[me] += cell[1 - me];
		pthread_barrier_wait(&bar);
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_barrier_init(&bar, NULL, 2);
	pthread_create(&a, NULL, step, (void *)0);
	pthread_create(&b, NULL, step, (void *)1);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", out[0] + out[1]);
	return 0;
}
