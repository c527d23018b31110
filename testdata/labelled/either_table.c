// verdict: benign
// two equal tables: it doesn't matter which one is used
#include "threads.h"

static const int one[4] = {1, 2, 3, 4}, two[4] = {1, 2, 3, 4};
static const int *volatile table = one;
static int sum;

static void *swap(void *arg) {
	for (int i = 0; i < 60; i++) table = i % 2 ? one : two;
	return 0;
}

static void *use(void *arg) {
	for (int i = 0; i < 100; i++) sum += table[i % 4];
	return 0;
}

int main(void) {
	both(swap, use);
	printf("%d\n", sum);
	return 0;
}
