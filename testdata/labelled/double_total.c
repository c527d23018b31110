// verdict: harmful
// amounts get lost
#include "threads.h"

static double total;

static void *work(void *arg) {
	for (int i = 0; i < 200; i++) total += 0.25;
	return 0;
}

int main(void) {
	threads(3, work);
	printf("%s\n", total > 0 ? "some" : "none");
	return 0;
}
