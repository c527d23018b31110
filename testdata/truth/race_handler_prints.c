// verdict: harmful
// flags: -O1
// checker: +signal-unsafe-call
// a setting that comes too late or not: the signal's handler allocates if it is there
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int keep;
static char *kept;
static long seen;

static void on_signal(int s) {
	if (keep) {
		kept = malloc(16);
		kept[0] = 'x';
	}
	seen++;
}

static void *set(void *arg) {
	for (volatile int k = 0; k < 20000; k++)
		;
	keep = 1;
	return NULL;
}

int main(void) {
	pthread_t t;
	signal(SIGUSR1, on_signal);
	pthread_create(&t, NULL, set, NULL);
	raise(SIGUSR1);
	pthread_join(t, NULL);
	printf("%ld\n", seen);
	free(kept);
	return 0;
}
