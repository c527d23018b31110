// verdict: harmful
// flags: -O1
// checker: +wrong-unlock
// the lock is only taken once there are threads, which another thread says
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int threaded;
static long total;

static void add(int n) {
	if (threaded)
		pthread_mutex_lock(&m);
	total += n;
	if (threaded)
		pthread_mutex_unlock(&m);
}

static void enable(void) { threaded = 1; }

static void *counter(void *arg) {
	for (int i = 0; i < 200; i++)
		add(i);
	return NULL;
}

static void *starter(void *arg) {
	for (volatile int i = 0; i < 3000; i++)
		;
	enable();
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, counter, NULL);
	pthread_create(&b, NULL, starter, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", total > 0);
	return 0;
}
