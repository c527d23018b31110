// verdict: harmful
// flags: -O1
// What the second thread reads under the lock is only shown; it goes on all the
// same if it is something else. An update in a loop, next to the racing
// variable, must not make it forgotten.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, phase;

static void step(int n) {
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&lock);
		phase++;
		pthread_mutex_unlock(&lock);
	}
}

static void *early(void *unused) {
	step(20);
	total += 3;
	step(20);
	return unused;
}

static void *late(void *unused) {
	usleep(10000);
	step(20);
	pthread_mutex_lock(&lock);
	int now = phase;
	pthread_mutex_unlock(&lock);
	fprintf(stderr, "phase %d\n", now);
	total += 7;
	return unused;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, early, NULL);
	pthread_create(&b, NULL, late, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", total > 0);
	return 0;
}
