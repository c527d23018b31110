// realloc doesn't clear what it adds.
#include <stdio.h>
#include <stdlib.h>

struct set { int n; unsigned char *used; };

static int count(struct set *s) {
	int c = 0;
	for (int i = 0; i < s->n; i++)
		if (s->used[i]) // finding: uninitialised-read
			c++;
	return c;
}

int main(void) {
	struct set s = {16, calloc(16, 1)};
	s.used[3] = 1;
	printf("%d\n", count(&s));
	s.used = realloc(s.used, 64);
	s.n = 64;
	printf("%d\n", count(&s) > 100);
	free(s.used);
	return 0;
}
