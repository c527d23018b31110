// verdict: harmful
// a cache slot's key and value are written separately: a reader may get the value of another key
#include "threads.h"

static struct { int key, value; } slot[4];
static int wrong;

static int lookup(int key) {
	int i = key % 4;
	if (slot[i].key != key) {
		slot[i].key = key;
		slot[i].value = key * key;
	}
	return slot[i].value;
}

static void *work(void *arg) {
	int bad = 0;
	for (int i = 1; i < 120; i++) {
		int key = i + (long)arg * 4;
		if (lookup(key) != key * key) bad++;
	}
	__sync_fetch_and_add(&wrong, bad);
	return 0;
}

int main(void) {
	threads(2, work);
	return 0;
}
