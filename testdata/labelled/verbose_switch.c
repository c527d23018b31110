// verdict: benign
// a log level is changed; a message more or less doesn't matter, and none is written here
#include "threads.h"

static volatile int level = 1;
static int kept[100], n;

static void note(int lv, int what) {
	if (lv <= level) kept[n++ % 100] = what;
}

static void *work(void *arg) {
	for (int i = 0; i < 200; i++) note(i % 4, i);
	return 0;
}

static void *admin(void *arg) {
	for (int i = 0; i < 20; i++) level = i % 3;
	return 0;
}

int main(void) {
	both(work, admin);
	return 0;
}
