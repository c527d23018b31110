// verdict: benign
// a monitor compares a gauge with a limit that is never reached
#include "threads.h"

static volatile int load;
static int alerts;

static void *work(void *arg) {
	for (int i = 0; i < 200; i++) load = i % 50;
	return 0;
}

static void *monitor(void *arg) {
	for (int i = 0; i < 60; i++)
		if (load > 1000) alerts++;
	return 0;
}

int main(void) {
	both(work, monitor);
	printf("%d\n", alerts);
	return 0;
}
