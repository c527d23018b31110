// Blocks that two places believe to own. The allocator is kept from noticing.
#include <stdio.h>
#include <stdlib.h>

struct list { char *text; struct list *next; };

static void drop(struct list *l) {
	free(l->text); // finding: double-free
	l->next = NULL;
}

int main(void) {
	char *fill[7];
	struct list a = {malloc(24), NULL}, b = {a.text, &a};
	char *other = malloc(24);
	puts("done");
	a.text[0] = 'x';
	for (int i = 0; i < 7; i++)
		fill[i] = malloc(24);
	for (int i = 0; i < 7; i++)
		free(fill[i]);
	drop(&b);
	free(other);
	drop(&a);
	fflush(stdout);
	_Exit(0);
}
