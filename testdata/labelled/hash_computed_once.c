// verdict: benign
// 0 means not yet computed; whoever computes it gets the same
#include "threads.h"

static const char *name = "a name that isn't too long";
static unsigned hash;

static unsigned hashed(void) {
	unsigned h = hash;
	if (h == 0) {
		for (const char *p = name; *p; p++) h = h * 31 + (unsigned char)*p;
		hash = h;
	}
	return h;
}

static unsigned sums[2];

static void *work(void *arg) {
	for (int i = 0; i < 20; i++) sums[(long)arg] += hashed() >> 20;
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%u\n", sums[0] - sums[1]);
	return 0;
}
