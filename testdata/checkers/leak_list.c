// The head of a list is lost: only it is reported, not what hangs on it.
#include <stdlib.h>

struct node { struct node *next; int value; };

static struct node *make(int n) {
	struct node *head = malloc(sizeof *head); // finding: leak
	struct node *last = head;
	head->value = 0;
	for (int i = 1; i < n; i++) {
		last->next = malloc(sizeof *last);
		last = last->next;
		last->value = i;
	}
	last->next = NULL;
	return head;
}

int main(void) {
	struct node *l = make(10);
	int sum = 0;
	for (struct node *n = l; n; n = n->next)
		sum += n->value;
	l = NULL;
	return sum != 45;
}
