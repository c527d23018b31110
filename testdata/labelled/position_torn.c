// verdict: harmful
// a reader sees one coordinate of the old place and one of the new
#include "threads.h"

static volatile double x, y;
static int off_the_line;

static void *mover(void *arg) {
	for (int i = 0; i < 150; i++) {
		x = i;
		y = 2.0 * i;
	}
	return 0;
}

static void *watcher(void *arg) {
	for (int i = 0; i < 150; i++) {
		double a = x, b = y;
		if (b != 2 * a) off_the_line++;
	}
	return 0;
}

int main(void) {
	both(mover, watcher);
	return 0;
}
