// verdict: harmful
// the old configuration is freed while a worker may still read it
#include "threads.h"

struct config { int limit, burst; };
static struct config *conf;
static int sum;

static void *reload(void *arg) {
	for (int i = 0; i < 40; i++) {
		struct config *c = malloc(sizeof *c), *old = conf;
		c->limit = i, c->burst = 2 * i;
		conf = c;
		free(old);
	}
	return 0;
}

static void *worker(void *arg) {
	for (int i = 0; i < 200; i++) {
		struct config *c = conf;
		sum += c->limit + c->burst;
	}
	return 0;
}

int main(void) {
	conf = calloc(1, sizeof *conf);
	both(reload, worker);
	return sum < 0;
}
