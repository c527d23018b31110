// verdict: harmful
// two buyers see the last ticket
#include "threads.h"

static int left = 150, sold[2];

static void *sell(void *arg) {
	long me = (long)arg;
	for (int i = 0; i < 100; i++)
		if (left > 0) {
			left--;
			sold[me]++;
		}
	return 0;
}

int main(void) {
	threads(2, sell);
	return sold[0] + sold[1] < 100;
}
