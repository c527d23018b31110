// verdict: harmful
// the last thread has to print, and it may be that none or two do
#include "threads.h"

static volatile int running = 3;

static void *work(void *arg) {
	for (volatile int i = 0; i < 50; i++);
	running = running - 1;
	if (running == 0) printf("all done\n");
	return 0;
}

int main(void) {
	threads(3, work);
	return 0;
}
