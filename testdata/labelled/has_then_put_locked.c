// verdict: none
// each step takes the lock; that two may put the same key is wrong, but no data race
#include "threads.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static int keys[128], n;

static int has(int key) {
	pthread_mutex_lock(&mu);
	int found = 0;
	for (int i = 0; i < n; i++) found |= keys[i] == key;
	pthread_mutex_unlock(&mu);
	return found;
}

static void put(int key) {
	pthread_mutex_lock(&mu);
	if (n < 128) keys[n++] = key;
	pthread_mutex_unlock(&mu);
}

static void *work(void *arg) {
	for (int i = 0; i < 40; i++)
		if (!has(i)) put(i);
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%d\n", n >= 40);
	return 0;
}
