// verdict: benign
// a new configuration is completed, then its pointer is stored; old ones stay until the end, and readers take the pointer once
#include "threads.h"

struct config { int limit, burst; struct config *before; };

static struct config first = {10, 20, 0};
static struct config *volatile current = &first;
static int over[2];

static void *reload(void *arg) {
	for (int i = 1; i <= 20; i++) {
		struct config *c = malloc(sizeof *c);
		c->limit = 10 + i;
		c->burst = 2 * c->limit;
		c->before = current;
		__asm__ volatile("" ::: "memory");
		current = c;
		sched_yield();
	}
	return 0;
}

static void *serve(void *arg) {
	for (int i = 0; i < 100; i++) {
		const struct config *c = current;
		if (c->burst != 2 * c->limit) over[0]++;
	}
	return 0;
}

int main(void) {
	both(reload, serve);
	for (struct config *c = current; c != &first;) {
		struct config *b = c->before;
		free(c);
		c = b;
	}
	printf("%d\n", over[0]);
	return 0;
}
