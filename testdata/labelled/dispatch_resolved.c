// verdict: benign
// each thread may resolve the function, and all come to the same
#include "threads.h"

static int plain(int v) { return v * 3; }
static int (*volatile impl)(int);

static int resolve(int v) {
	if (!impl) impl = getenv("NO_SUCH_THING") ? 0 : plain;
	return impl(v);
}

static int sums[2];

static void *work(void *arg) {
	for (int i = 0; i < 30; i++) sums[(long)arg] += resolve(i);
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%d\n", sums[0] + sums[1]);
	return 0;
}
