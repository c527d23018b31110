// verdict: none
#include "threads.h"

static pthread_mutex_t stripe[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int cells[32];

static void *work(void *arg) {
	for (int i = 0; i < 200; i++) {
		int k = (i * 7 + (int)(long)arg) % 32;
		pthread_mutex_lock(&stripe[k % 4]);
		cells[k]++;
		pthread_mutex_unlock(&stripe[k % 4]);
	}
	return 0;
}

int main(void) {
	threads(3, work);
	int n = 0;
	for (int i = 0; i < 32; i++) n += cells[i];
	printf("%d\n", n);
	return 0;
}
