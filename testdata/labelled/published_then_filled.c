// verdict: harmful
// the pointer is public before the object is ready
#include "threads.h"

struct point { int x, y; };
static struct point *volatile shared;
static int sums;

static void *writer(void *arg) {
	for (int i = 1; i < 40; i++) {
		struct point *p = calloc(1, sizeof *p);
		shared = p;
		p->x = i;
		p->y = -i;
	}
	return 0;
}

static void *reader(void *arg) {
	for (int i = 0; i < 80; i++) {
		struct point *p = shared;
		if (p) sums += p->x + p->y;
	}
	return 0;
}

int main(void) {
	both(writer, reader);
	return 0;
}
