// verdict: synchronisation
// race lat: benign
// race lon: benign
// the position may be torn while it is read, but then the number has changed and it is read again
#include "threads.h"

static volatile unsigned seq;
static volatile double lat, lon;
static int off;

static void *move(void *arg) {
	for (int i = 1; i <= 100; i++) {
		__atomic_fetch_add(&seq, 1, __ATOMIC_SEQ_CST);
		lat = i;
		lon = -i;
		__atomic_fetch_add(&seq, 1, __ATOMIC_SEQ_CST);
	}
	return 0;
}

static void *follow(void *arg) {
	for (int i = 0; i < 80; i++) {
		double a, b;
		unsigned before;
		do {
			while ((before = __atomic_load_n(&seq, __ATOMIC_ACQUIRE)) & 1) sched_yield();
			a = lat;
			b = lon;
		} while (__atomic_load_n(&seq, __ATOMIC_ACQUIRE) != before);
		if (a != -b) off++;
	}
	return 0;
}

int main(void) {
	both(move, follow);
	printf("%d\n", off);
	return off;
}
