// verdict: none
// flags: -O1
// The lock of a stream is a lock that programs may use, too. volatile: as glibc
// declares flockfile, a compiler may keep what doesn't escape in a register.
#include <pthread.h>
#include <stdio.h>

static volatile int value;

static void *count(void *unused) {
	for (int i = 0; i < 20; i++) {
		flockfile(stdout);
		value++;
		funlockfile(stdout);
	}
	return unused;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, 0, count, 0);
	pthread_create(&b, 0, count, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	printf("%d\n", value);
	return 0;
}
