// An entry that may never have been written is looked at, and then checked: what
// it held makes no difference.
// findings: none
#include <stdio.h>
#include <stdlib.h>

struct set { unsigned n, *where, *list; };

// Briggs and Torczon's sparse sets need no initialisation.
__attribute__((noinline)) static int has(struct set *s, unsigned x) {
	unsigned i = s->where[x];
	return i < s->n && s->list[i] == x;
}

int main(void) {
	struct set s = {0, malloc(64 * sizeof(unsigned)), malloc(64 * sizeof(unsigned))};
	int n = 0;
	for (unsigned x = 0; x < 64; x += 9) {
		n += has(&s, x);
		s.where[x] = s.n;
		s.list[s.n++] = x;
		n += has(&s, x);
	}
	printf("%d\n", n);
	free(s.where);
	free(s.list);
	return 0;
}
