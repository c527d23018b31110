// verdict: harmful
// head is changed atomically, but a node may be freed while another thread reads its successor
#include "threads.h"

struct node { struct node *next; long value; };

static struct node *head;
static long sums[2];

static struct node *pop(void) {
	struct node *n = __atomic_load_n(&head, __ATOMIC_SEQ_CST);
	while (n) {
		struct node *next = n->next;
		if (__atomic_compare_exchange_n(&head, &n, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return n;
	}
	return 0;
}

static void *work(void *arg) {
	struct node *n;
	while ((n = pop())) {
		sums[(long)arg] += n->value;
		free(n);
	}
	return 0;
}

int main(void) {
	for (long i = 0; i < 80; i++) {
		struct node *n = malloc(sizeof *n);
		n->value = i;
		n->next = head;
		head = n;
	}
	threads(2, work);
	printf("%ld\n", sums[0] + sums[1]);
	return 0;
}
