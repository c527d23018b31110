// verdict: harmful
// two callers may get the same number
#include "threads.h"

static long next_id = 1;
static long ids[2][200];

static long new_id(void) { return next_id++; }

static void *client(void *arg) {
	long me = (long)arg;
	for (int i = 0; i < 200; i++) ids[me][i] = new_id();
	return 0;
}

int main(void) {
	threads(2, client);
	return ids[0][199] == 0;
}
