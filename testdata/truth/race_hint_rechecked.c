// verdict: benign
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static volatile int hint;
static int done;
static int runs;

static void once(void) {
	if (hint)
		return;
	pthread_mutex_lock(&mu);
	if (!done) {
		done = 1;
		runs++;
		hint = 1;
	}
	pthread_mutex_unlock(&mu);
}

static void *user(void *arg) {
	for (int i = 0; i < 300; i++)
		once();
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, user, NULL);
	pthread_create(&b, NULL, user, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", runs);
	return 0;
}
