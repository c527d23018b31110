// verdict: harmful
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void add(long n, int fast) {
	if (fast) {
		total += n;
		return;
	}
	pthread_mutex_lock(&mu);
	total += n;
	pthread_mutex_unlock(&mu);
}

static void *slow(void *arg) {
	for (int i = 0; i < 800; i++)
		add(1, 0);
	return NULL;
}

static void *quick(void *arg) {
	for (int i = 0; i < 800; i++)
		add(1, i % 8 == 0);
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, slow, NULL);
	pthread_create(&b, NULL, quick, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", total <= 1600);
	return 0;
}
