// verdict: benign
// a running estimate of how long requests take, which all update; it only chooses how long to wait before asking again
#include "threads.h"

static volatile int estimate = 100;
static int answers[2];

static int ask(int i) { return 80 + i * 7 % 40; }

static void *client(void *arg) {
	for (int i = 0; i < 60; i++) {
		int took = ask(i);
		estimate = (7 * estimate + took) / 8;
		if (took > 2 * estimate) usleep(estimate);
		answers[(long)arg] += took;
	}
	return 0;
}

int main(void) {
	threads(2, client);
	printf("%d\n", answers[0] + answers[1]);
	return 0;
}
