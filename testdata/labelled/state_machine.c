// verdict: harmful
// both see IDLE and both start
#include "threads.h"

enum { IDLE, RUNNING, DONE };
static volatile int state[50];
static int started[50];

static void *work(void *arg) {
	for (int i = 0; i < 50; i++) {
		if (state[i] == IDLE) {
			state[i] = RUNNING;
			__sync_fetch_and_add(&started[i], 1);
			state[i] = DONE;
		}
	}
	return 0;
}

int main(void) {
	threads(2, work);
	return 0;
}
