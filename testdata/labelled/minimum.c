// verdict: harmful
// a smaller value may be overwritten by a larger one
#include "threads.h"

static int best = 1 << 30;

static void *search(void *arg) {
	unsigned x = 12345 + (unsigned)(long)arg;
	for (int i = 0; i < 300; i++) {
		x = x * 1103515245 + 12345;
		int cost = (x >> 8) % 100000;
		if (cost < best) best = cost;
	}
	return 0;
}

int main(void) {
	threads(2, search);
	return best < 0;
}
