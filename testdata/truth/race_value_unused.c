// verdict: benign
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int progress;
static int work[2];

static void *worker(void *arg) {
	for (int i = 0; i < 600; i++) {
		work[0] += i;
		progress = i;
	}
	return NULL;
}

static void peek(void) { (void)progress; }

static void *watcher(void *arg) {
	for (int i = 0; i < 300; i++)
		peek();
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, watcher, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", work[0]);
	return 0;
}
