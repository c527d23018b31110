// verdict: benign
// work that is cancelled is thrown away, wherever it stopped
#include "threads.h"

static volatile int cancelled;

static void *work(void *arg) {
	int *scratch = malloc(400 * sizeof *scratch);
	for (int i = 0; i < 400; i++) {
		if (cancelled) break;
		scratch[i] = i;
	}
	free(scratch);
	return 0;
}

static void *user(void *arg) {
	for (volatile int i = 0; i < 100; i++);
	cancelled = 1;
	return 0;
}

int main(void) {
	both(work, user);
	printf("done\n");
	return 0;
}
