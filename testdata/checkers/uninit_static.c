// A static, optimised program.
// flags: -static -O2
#include <stdio.h>
#include <stdlib.h>

struct tree { struct tree *left, *right; int key; };

static struct tree *leaf(int key) {
	struct tree *t = malloc(sizeof *t);
	t->key = key;
	t->left = NULL;
	return t;
}

__attribute__((noinline)) static int depth(struct tree *t) {
	if (t->left)
		return 1;
	return t->right ? 2 : 3; // finding: uninitialised-read
}

int main(void) {
	struct tree *t = leaf(5);
	printf("%d\n", depth(t));
	free(t);
	return 0;
}
