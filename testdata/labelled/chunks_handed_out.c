// verdict: harmful
// a chunk may be summed twice, or not at all
#include "threads.h"

static int data[640], next;
static long total;

static void *work(void *arg) {
	for (;;) {
		int from = next;
		next = from + 32;
		if (from >= 640) return 0;
		long s = 0;
		for (int i = from; i < from + 32; i++) s += data[i];
		__sync_fetch_and_add(&total, s);
	}
}

int main(void) {
	for (int i = 0; i < 640; i++) data[i] = i;
	threads(2, work);
	return total < 0;
}
