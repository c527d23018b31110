// An iteration's result is kept in a register until long after it.
#include <pthread.h>

volatile int sample, seen, told;
int out;

__attribute__((noinline)) static void collect(void) {
	int high = 0;
	for (int i = 0; i < 6000; i++)
		if (sample > 100) {
			high = 1;
			seen = i;
		}
	if (high)
		out = high;
}

static void *other(void *arg) {
	sample = 7;
	return NULL;
}

int main(void) {
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	told = 1;
	collect();
	pthread_join(t, NULL);
	return out;
}
