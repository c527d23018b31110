// verdict: benign
// flags: -O1
// Two threads may both see that nobody has warned yet, and note the same; the
// next round looks again.
#include <pthread.h>
#include <stdio.h>

static volatile int warned;
static volatile int code;

static int warn(void) {
	if (warned) return 0;
	warned = 1;
	code = 7;
	return 1;
}

static void *work(void *arg) {
	int new;
	for (int i = 0; i < 60; i++) new = warn();
	return new ? arg : 0;
}

int main(void) {
	pthread_t t[2];
	for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
	printf("%d\n", code);
	return 0;
}
