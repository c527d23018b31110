// verdict: harmful
// the ring is made for one producer, and has two
#include "threads.h"

static int ring[512];
static volatile unsigned tail;

static void put(int v) {
	ring[tail % 512] = v;
	tail = tail + 1;
}

static void *producer(void *arg) {
	for (int i = 0; i < 150; i++) put((int)(long)arg * 1000 + i);
	return 0;
}

int main(void) {
	threads(2, producer);
	return ring[0] < 0;
}
