// verdict: harmful
// the result is printed while it is being computed
#include "threads.h"

static long total;

static void *work(void *arg) {
	for (int i = 1; i <= 500; i++) total += i;
	return 0;
}

int main(void) {
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	for (volatile int i = 0; i < 300; i++);
	printf("total %ld\n", total);
	pthread_join(t, 0);
	return 0;
}
