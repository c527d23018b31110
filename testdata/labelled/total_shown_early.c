// verdict: benign
// each thread adds what it counted under the lock; a display that looks without it shows a sum that was right once
#include "threads.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static volatile long total;
static long shown;

static void *count(void *arg) {
	for (int k = 0; k < 20; k++) {
		long n = 0;
		for (int i = 0; i < 10; i++) n += i % 3 == 0;
		pthread_mutex_lock(&mu);
		total += n;
		pthread_mutex_unlock(&mu);
	}
	return 0;
}

static void *display(void *arg) {
	for (int i = 0; i < 10; i++) {
		shown = total;
		usleep(10);
	}
	return 0;
}

int main(void) {
	pthread_t t[3];
	pthread_create(&t[0], 0, count, 0);
	pthread_create(&t[1], 0, count, 0);
	pthread_create(&t[2], 0, display, 0);
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	printf("%ld\n", total);
	return 0;
}
