// verdict: benign
// both clear a page that nobody uses yet
#include "threads.h"

static char page[512];

static void *clear(void *arg) {
	for (int i = 0; i < 5; i++) memset(page, 0, sizeof page);
	return 0;
}

int main(void) {
	memset(page, 1, sizeof page);
	threads(2, clear);
	int n = 0;
	for (int i = 0; i < 512; i++) n += page[i];
	printf("%d\n", n);
	return 0;
}
