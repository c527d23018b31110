// verdict: harmful
// a node is freed while another thread stands on it
#include "threads.h"

struct node { struct node *next; int v; };
static struct node *volatile head;
static long sum;

static void *remover(void *arg) {
	while (head) {
		struct node *n = head;
		head = n->next;
		free(n);
	}
	return 0;
}

static void *walker(void *arg) {
	for (int i = 0; i < 6; i++)
		for (struct node *n = head; n; n = n->next) sum += n->v;
	return 0;
}

int main(void) {
	for (int i = 0; i < 30; i++) {
		struct node *n = malloc(sizeof *n);
		n->next = head, n->v = i;
		head = n;
	}
	both(walker, remover);
	return 0;
}
