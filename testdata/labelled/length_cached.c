// verdict: benign
// each object remembers its length; whoever computes it finds the same
#include "threads.h"

static struct { const char *text; int length; } words[6] = {{"one", -1}, {"three", -1}, {"eleven", -1}, {"four", -1}, {"twelve", -1}, {"six", -1}};

static int length(int i) {
	int n = words[i].length;
	if (n < 0) {
		n = strlen(words[i].text);
		words[i].length = n;
	}
	return n;
}

static int sums[2];

static void *work(void *arg) {
	for (int i = 0; i < 60; i++) sums[(long)arg] += length(i % 6);
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%d\n", sums[0] - sums[1]);
	return 0;
}
