// verdict: harmful
// generations mix, because nobody waits for the others
#include "threads.h"

static char cells[2][66];
static int now;

static void *half(void *arg) {
	int from = (long)arg ? 33 : 1;
	for (int g = 0; g < 12; g++) {
		char *old = cells[now], *young = cells[1 - now];
		for (int i = from; i < from + 32; i++) young[i] = old[i - 1] ^ old[i + 1];
		if (!arg) now = 1 - now;
	}
	return 0;
}

int main(void) {
	cells[0][20] = cells[0][40] = 1;
	threads(2, half);
	return 0;
}
