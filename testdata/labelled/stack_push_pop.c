// verdict: harmful
// race owner: any
// nodes get lost or are handed out twice
#include "threads.h"

struct node { struct node *next; int owner; };
static struct node *top, nodes[64];

static struct node *pop(void) {
	struct node *n = top;
	if (n) top = n->next;
	return n;
}

static void push(struct node *n) {
	n->next = top;
	top = n;
}

static void *work(void *arg) {
	for (int i = 0; i < 100; i++) {
		struct node *n = pop();
		if (!n) continue;
		n->owner = (int)(long)arg;
		push(n);
	}
	return 0;
}

int main(void) {
	for (int i = 0; i < 64; i++) push(&nodes[i]);
	threads(2, work);
	return 0;
}
