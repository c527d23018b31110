// verdict: harmful
// the interest run forgets the lock that transfers take
#include "threads.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static long balance[4] = {1000, 1000, 1000, 1000};

static void *transfers(void *arg) {
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&mu);
		balance[i % 4] -= 5;
		balance[(i + 1) % 4] += 5;
		pthread_mutex_unlock(&mu);
	}
	return 0;
}

static void *interest(void *arg) {
	for (int i = 0; i < 50; i++)
		for (int k = 0; k < 4; k++) balance[k] += balance[k] / 100;
	return 0;
}

int main(void) {
	both(transfers, interest);
	long sum = 0;
	for (int k = 0; k < 4; k++) sum += balance[k];
	return sum < 0;
}
