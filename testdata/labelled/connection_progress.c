// verdict: benign
// a connection goes through its states, one after the other; the watcher only wants to know the last one it saw
#include "threads.h"

enum { CLOSED, CONNECTING, OPEN, DRAINING, DONE };
static volatile int state;
static const char *const names[] = {"closed", "connecting", "open", "draining", "done"};
static const char *shown = "closed";
static long bytes;

static void *run(void *arg) {
	for (int s = CLOSED; s <= DONE; s++) {
		state = s;
		for (int i = 0; i < 30; i++) bytes += i;
	}
	return 0;
}

static void *watch(void *arg) {
	for (int i = 0; i < 40; i++) shown = names[state];
	return 0;
}

int main(void) {
	both(run, watch);
	printf("%ld\n", bytes);
	return 0;
}
