// verdict: benign
// a progress bar: any of the values will do
#include "threads.h"

static volatile int percent, over;
static long sum;

static void *work(void *arg) {
	for (int i = 0; i <= 100; i++) {
		for (int k = 0; k < 20; k++) sum += k;
		percent = i;
	}
	__atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static void *bar(void *arg) {
	char line[32];
	for (int i = 0; i < 5; i++) {
		int n = snprintf(line, sizeof line, "\r%3d %%", percent);
		if (write(2, line, n) < 0) return 0;
		usleep(10);
	}
	return 0;
}

int main(void) {
	both(work, bar);
	return 0;
}
