// verdict: benign
// flags: -O1
// a setting that may take effect a little later
#include <pthread.h>
#include <stdio.h>

static volatile int level = 3;
static int logged;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static void note(int importance) {
	if (importance < level)
		return;
	pthread_mutex_lock(&mu);
	logged++;
	pthread_mutex_unlock(&mu);
}

static void *worker(void *arg) {
	for (int i = 0; i < 200; i++)
		note(i % 10);
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	for (volatile int k = 0; k < 3000; k++)
		;
	level = 5;
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts(logged > 0 ? "logged" : "nothing");
	return 0;
}
