// verdict: benign
// several fail in the same way, and one code is kept
#include "threads.h"

static volatile int error;

static void *work(void *arg) {
	for (int i = 0; i < 60; i++)
		if (i % 20 == 19 && !error) error = 5;
	return 0;
}

int main(void) {
	threads(3, work);
	printf("error %d\n", error);
	return 0;
}
