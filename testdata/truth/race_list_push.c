// verdict: harmful
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node { struct node *next; int v; };
static struct node *head;

static void push(int v) {
	struct node *n = malloc(sizeof *n);
	n->v = v;
	n->next = head;
	head = n;
}

static void *pusher(void *arg) {
	for (int i = 0; i < 400; i++)
		push(i);
	return NULL;
}

int main(void) {
	pthread_t a, b;
	int n = 0;
	pthread_create(&a, NULL, pusher, NULL);
	pthread_create(&b, NULL, pusher, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	for (struct node *p = head; p; p = p->next)
		n++;
	printf("%d\n", n <= 800);
	return 0;
}
