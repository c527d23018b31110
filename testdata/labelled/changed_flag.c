// verdict: benign
// every thread that changes something says so, with the same value
#include "threads.h"

static int dirty, data[2][50];

static void *work(void *arg) {
	for (int i = 0; i < 50; i++) {
		data[(long)arg][i] = i;
		dirty = 1;
	}
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%d\n", dirty);
	return 0;
}
