// verdict: benign
// a name is made when it is first needed: its length, then its text; whoever makes it makes the same
#include "threads.h"

static const char *volatile name;
static int length;
static int total[2];

static const char *get(void) {
	if (!name) {
		length = 7;
		__asm__ volatile("" ::: "memory");
		name = "default";
	}
	return name;
}

static void *work(void *arg) {
	for (int i = 0; i < 50; i++) {
		get();
		total[(long)arg] += length;
	}
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%d\n", total[0] + total[1]);
	return 0;
}
