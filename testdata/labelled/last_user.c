// verdict: benign
// who used it last, for a person with a debugger
#include "threads.h"

static long last_user;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static int uses;

static void *work(void *arg) {
	for (int i = 0; i < 100; i++) {
		last_user = (long)arg;
		pthread_mutex_lock(&mu);
		uses++;
		pthread_mutex_unlock(&mu);
	}
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%d\n", uses);
	return 0;
}
