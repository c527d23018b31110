// verdict: benign
// a shared generator of noise for waiting times; losing an update is noise, too
#include "threads.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned noise = 1;
static int n;

static void *work(void *arg) {
	for (int i = 0; i < 60; i++) {
		noise = noise * 1103515245 + 12345;
		for (volatile unsigned k = (noise >> 16) % 8; k > 0; k--);
		pthread_mutex_lock(&mu);
		n++;
		pthread_mutex_unlock(&mu);
	}
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%d\n", n);
	return 0;
}
