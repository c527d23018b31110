// verdict: harmful
// the last one out frees, and both may be last, or none
#include "threads.h"

struct object { int refs; int data[4]; };
static struct object *shared[20];

static void put(struct object *o) {
	if (--o->refs == 0) free(o);
}

static void *user(void *arg) {
	for (int i = 0; i < 20; i++) {
		shared[i]->data[(long)arg]++;
		put(shared[i]);
	}
	return 0;
}

int main(void) {
	for (int i = 0; i < 20; i++) {
		shared[i] = calloc(1, sizeof *shared[i]);
		shared[i]->refs = 2;
	}
	threads(2, user);
	return 0;
}
