// verdict: none
#include "threads.h"

struct node { pthread_mutex_t mu; struct node *next; int hits; };
static struct node nodes[6];

static void *walk(void *arg) {
	for (int i = 0; i < 30; i++) {
		struct node *n = &nodes[0];
		pthread_mutex_lock(&n->mu);
		while (n) {
			n->hits++;
			struct node *next = n->next;
			if (next) pthread_mutex_lock(&next->mu);
			pthread_mutex_unlock(&n->mu);
			n = next;
		}
	}
	return 0;
}

int main(void) {
	for (int i = 0; i < 6; i++) {
		pthread_mutex_init(&nodes[i].mu, 0);
		nodes[i].next = i < 5 ? &nodes[i + 1] : 0;
	}
	threads(3, walk);
	printf("%d\n", nodes[5].hits);
	return 0;
}
