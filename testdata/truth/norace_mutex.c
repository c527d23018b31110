// verdict: none
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *add(void *arg) {
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&mu);
		total++;
		pthread_mutex_unlock(&mu);
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, add, NULL);
	pthread_create(&b, NULL, add, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%ld\n", total);
	return 0;
}
