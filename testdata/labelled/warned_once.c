// verdict: benign
// the same warning may be noted twice, in the same place
#include "threads.h"

static volatile int warned;
static const char *warning;

static void warn(void) {
	if (warned) return;
	warned = 1;
	warning = "something is odd";
}

static void *work(void *arg) {
	for (int i = 0; i < 20; i++)
		if (i % 5 == 0) warn();
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%s\n", warning);
	return 0;
}
