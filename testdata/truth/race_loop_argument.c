// verdict: harmful
// flags: -O1
// All threads get the address of one loop variable, and each looks once.
#include <pthread.h>
#include <stdio.h>

static int started[4];

static void *work(void *arg) {
	int me = *(volatile int *)arg;
	if (me < 4)
		__sync_fetch_and_add(&started[me], 1);
	return NULL;
}

int main(void) {
	pthread_t t[4];
	volatile int i;
	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, (void *)&i);
	for (int k = 0; k < 4; k++)
		pthread_join(t[k], NULL);
	for (int k = 0; k < 4; k++)
		fprintf(stderr, "%d ", started[k]);
	puts("done");
	return 0;
}
