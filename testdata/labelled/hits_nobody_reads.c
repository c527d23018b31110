// verdict: benign
// a counter for somebody who debugs; nothing reads it
#include "threads.h"

static unsigned long hits;
static int values[2][64];

static int get(int me, int i) {
	hits++;
	return values[me][i % 64];
}

static void *work(void *arg) {
	int s = 0;
	for (int i = 0; i < 200; i++) s += get((int)(long)arg, i);
	return (void *)(long)s;
}

int main(void) {
	threads(2, work);
	return 0;
}
