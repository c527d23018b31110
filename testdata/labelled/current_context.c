// verdict: harmful
// a global says for whom the library works at the moment
#include "threads.h"

struct context { int errors, calls; };
static struct context *current;
static struct context contexts[2];

static void failed(void) { current->errors++; }

static void call(struct context *c, int v) {
	current = c;
	c->calls++;
	if (v % 4 == 0) failed();
}

static void *work(void *arg) {
	for (int i = 0; i < 100; i++) call(&contexts[(long)arg], i);
	return 0;
}

int main(void) {
	threads(2, work);
	return 0;
}
