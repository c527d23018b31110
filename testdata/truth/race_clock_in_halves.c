// verdict: harmful
// flags: -O1
// The upper half changes once in a hundred times: only then is a torn reading
// another one.
#include <pthread.h>
#include <stdio.h>

static volatile unsigned lo = 0xffffffd0u, hi;
static int backwards;

static void *tick(void *arg) {
	for (unsigned long t = 0xffffffd0ul; t < 0xffffffd0ul + 100; t++) {
		lo = (unsigned)t;
		hi = t >> 32;
	}
	return 0;
}

static void *watch(void *arg) {
	unsigned long last = 0;
	for (int i = 0; i < 100; i++) {
		unsigned long t = (unsigned long)hi << 32 | lo;
		if (t < last) backwards++;
		last = t;
	}
	return 0;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, 0, tick, 0);
	pthread_create(&b, 0, watch, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	puts(backwards < 0 ? "?" : "done");
	return 0;
}
