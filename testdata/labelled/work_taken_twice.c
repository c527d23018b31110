// verdict: harmful
// workers may take the same item
#include "threads.h"

static int next_item, done[200];

static void *worker(void *arg) {
	for (;;) {
		int i = next_item;
		if (i >= 200) return 0;
		next_item = i + 1;
		__sync_fetch_and_add(&done[i], 1);
	}
}

int main(void) {
	threads(3, worker);
	int twice = 0;
	for (int i = 0; i < 200; i++) twice += done[i] > 1;
	return twice > 200;
}
