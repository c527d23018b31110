// verdict: harmful
// two threads push in front of the same chains
#include "threads.h"

struct node { unsigned key; struct node *next; };
static struct node *table[8];

static void insert(unsigned key) {
	struct node *n = malloc(sizeof *n);
	n->key = key;
	n->next = table[key % 8];
	table[key % 8] = n;
}

static void *work(void *arg) {
	for (unsigned i = 0; i < 100; i++) insert((unsigned)(long)arg * 1000 + i * 7);
	return 0;
}

int main(void) {
	threads(2, work);
	int n = 0;
	for (int i = 0; i < 8; i++)
		for (struct node *p = table[i]; p; p = p->next) n++;
	return n > 200;
}
