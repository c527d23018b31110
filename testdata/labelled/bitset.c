// verdict: harmful
// bits of one word are set by two threads, and get lost
#include "threads.h"

static unsigned long used[2];

static void *even(void *arg) {
	for (int i = 0; i < 128; i += 2) used[i / 64] |= 1ul << (i % 64);
	return 0;
}

static void *odd(void *arg) {
	for (int i = 1; i < 128; i += 2) used[i / 64] |= 1ul << (i % 64);
	return 0;
}

int main(void) {
	both(even, odd);
	return used[0] == 0;
}
