// A static program walks a list that it frees.
// flags: -static -O1
#include <stdio.h>
#include <stdlib.h>

struct entry { long key[2]; struct entry *next; };

__attribute__((noinline)) static void drop(struct entry *l) {
	while (l) {
		free(l);
		l = l->next; // finding: use-after-free
	}
}

int main(void) {
	struct entry *l = NULL;
	for (int i = 0; i < 5; i++) {
		struct entry *e = malloc(sizeof *e);
		e->key[0] = e->key[1] = i;
		e->next = l;
		l = e;
	}
	drop(l);
	puts("done");
	return 0;
}
