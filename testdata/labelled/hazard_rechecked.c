// verdict: none
// a reader announces what it uses and looks again; nothing is freed that is announced
#include "threads.h"

struct node { long value; };

static struct node *shared;
static struct node *hazard;
static long sum;

static void *read_all(void *arg) {
	for (int i = 0; i < 60; i++) {
		struct node *n;
		do {
			n = __atomic_load_n(&shared, __ATOMIC_SEQ_CST);
			__atomic_store_n(&hazard, n, __ATOMIC_SEQ_CST);
		} while (n != __atomic_load_n(&shared, __ATOMIC_SEQ_CST));
		sum += n->value;
		__atomic_store_n(&hazard, 0, __ATOMIC_SEQ_CST);
	}
	return 0;
}

static void *replace(void *arg) {
	for (long i = 0; i < 60; i++) {
		struct node *n = malloc(sizeof *n);
		n->value = i;
		struct node *old = __atomic_exchange_n(&shared, n, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(&hazard, __ATOMIC_SEQ_CST) == old) sched_yield();
		free(old);
	}
	return 0;
}

int main(void) {
	shared = malloc(sizeof *shared);
	shared->value = 0;
	both(read_all, replace);
	printf("%d\n", sum >= 0);
	free(shared);
	return 0;
}
