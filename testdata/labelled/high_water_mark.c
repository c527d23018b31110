// verdict: benign
// a mark that only somebody with a debugger looks at
#include "threads.h"

static int high;

static void *work(void *arg) {
	int depth = 0;
	for (int i = 0; i < 150; i++) {
		depth += (i * 7 + (int)(long)arg) % 3 - 1;
		if (depth > high) high = depth;
	}
	return 0;
}

int main(void) {
	threads(2, work);
	return 0;
}
