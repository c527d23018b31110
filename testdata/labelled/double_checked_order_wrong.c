// verdict: harmful
// the flag that says the table is ready is set before the table is filled; who sees it early reads zeros
#include "threads.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static volatile int ready;
static unsigned table[64];

static void prepare(void) {
	if (ready) return;
	pthread_mutex_lock(&mu);
	if (!ready) {
		ready = 1;
		for (unsigned i = 0; i < 64; i++) table[i] = i * i + 1;
	}
	pthread_mutex_unlock(&mu);
}

static unsigned sums[2];

static void *work(void *arg) {
	for (int i = 0; i < 100; i++) {
		prepare();
		sums[(long)arg] += table[i % 64];
	}
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%u %u\n", sums[0], sums[1]);
	return 0;
}
