// A write through a pointer that was kept.
#include <stdlib.h>
#include <stdio.h>

struct buf { int n; int data[20]; };

static void add(struct buf *b, int x) {
	b->data[b->n] = x; // finding: use-after-free
	b->n++; // finding: use-after-free
}

int main(void) {
	struct buf *b = malloc(sizeof *b), *other = malloc(8);
	b->n = 0;
	for (int i = 0; i < 20; i++)
		b->data[i] = i;
	struct buf *kept = b;
	free(b);
	other->n = 2;
	kept->n = 3; // finding: use-after-free
	add(kept, 4);
	printf("%d\n", other->n);
	free(other);
	return 0;
}
