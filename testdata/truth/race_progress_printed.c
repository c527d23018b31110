// verdict: benign
// flags: -O1
// a monitor shows how far a worker has come; any value will do
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int progress, finished;

static void *worker(void *arg) {
	for (int i = 1; i <= 400; i++) {
		progress = i;
		for (volatile int k = 0; k < 100; k++)
			;
	}
	return NULL;
}

static void *monitor(void *arg) {
	FILE *log = fopen("/dev/null", "w");
	for (int i = 0; i < 60; i++) {
		fprintf(log, "%d of 400\n", progress);
		for (volatile int k = 0; k < 300; k++)
			;
	}
	fclose(log);
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, monitor, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts("done");
	return 0;
}
