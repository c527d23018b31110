// verdict: harmful
// all threads get a pointer to the same loop variable
#include "threads.h"

static int started[4];

static void *work(void *arg) {
	int me = *(int *)arg;
	if (me < 4) __sync_fetch_and_add(&started[me], 1);
	return 0;
}

int main(void) {
	pthread_t t[4];
	int i;
	for (i = 0; i < 4; i++) pthread_create(&t[i], 0, work, &i);
	for (int k = 0; k < 4; k++) pthread_join(t[k], 0);
	for (int k = 0; k < 4; k++) printf("%d ", started[k]);
	return 0;
}
