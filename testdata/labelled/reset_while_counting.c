// verdict: harmful
// what is counted between the read and the reset is lost
#include "threads.h"

static int events, reported;

static void *count(void *arg) {
	for (int i = 0; i < 300; i++) events++;
	return 0;
}

static void *flush(void *arg) {
	for (int i = 0; i < 30; i++) {
		reported += events;
		events = 0;
	}
	return 0;
}

int main(void) {
	both(count, flush);
	return reported < 0;
}
