// verdict: benign
// pages that were written are marked, by whoever writes
#include "threads.h"

static unsigned char touched[8];
static int page[8][32];

static void *work(void *arg) {
	for (int i = 0; i < 120; i++) {
		int p = i % 8;
		__sync_fetch_and_add(&page[p][i % 32], 1);
		touched[p] = 1;
	}
	return 0;
}

int main(void) {
	threads(2, work);
	int n = 0;
	for (int i = 0; i < 8; i++) n += touched[i];
	printf("%d\n", n);
	return 0;
}
