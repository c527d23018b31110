// verdict: harmful
// race words: any
// a pool's free list is used by two threads without its lock
#include "threads.h"

union block { union block *next; long words[4]; };
static union block pool[32], *freelist;

static union block *take(void) {
	union block *b = freelist;
	if (b) freelist = b->next;
	return b;
}

static void give(union block *b) {
	b->next = freelist;
	freelist = b;
}

static void *work(void *arg) {
	for (int i = 0; i < 60; i++) {
		union block *b = take();
		if (b) {
			b->words[1] = i;
			give(b);
		}
	}
	return 0;
}

int main(void) {
	for (int i = 0; i < 32; i++) give(&pool[i]);
	threads(2, work);
	return 0;
}
