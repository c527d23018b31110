// verdict: harmful
// a row is replaced by a larger one while it is being summed
#include "threads.h"

static int *row, width = 4;
static long sum;

static void *widen(void *arg) {
	for (int w = 5; w < 30; w++) {
		int *r = calloc(w, sizeof *r);
		for (int i = 0; i < width; i++) r[i] = row[i];
		r[w - 1] = w;
		width = w;
		row = r;
	}
	return 0;
}

static void *add(void *arg) {
	for (int k = 0; k < 40; k++)
		for (int i = 0; i < width; i++) sum += row[i];
	return 0;
}

int main(void) {
	row = calloc(4, sizeof *row);
	both(widen, add);
	return sum < 0;
}
