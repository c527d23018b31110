// verdict: harmful
// both may initialise, and the second throws away what the first has done
#include "threads.h"

static volatile int initialised;
static int table[32];

static void init(void) {
	if (initialised) return;
	for (int i = 0; i < 32; i++) table[i] = 0;
	initialised = 1;
}

static void *work(void *arg) {
	init();
	for (int i = 0; i < 32; i++) __sync_fetch_and_add(&table[i], 1);
	return 0;
}

int main(void) {
	threads(2, work);
	int n = 0;
	for (int i = 0; i < 32; i++) n += table[i];
	return n > 64;
}
