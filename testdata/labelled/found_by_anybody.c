// verdict: benign
// whoever finds it says so; others stop earlier or later
#include "threads.h"

static volatile int found;
static int data[2][300];

static void *search(void *arg) {
	int *d = data[(long)arg];
	for (int i = 0; i < 300 && !found; i++)
		if (d[i] == 42) found = 1;
	return 0;
}

int main(void) {
	data[0][100] = data[1][200] = 42;
	threads(2, search);
	printf("%d\n", found);
	return 0;
}
