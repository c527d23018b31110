// A member that nobody has set decides what happens.
#include <stdio.h>
#include <stdlib.h>

struct conf { int level; int verbose; };

int main(void) {
	struct conf *c = malloc(sizeof *c);
	c->level = 3;
	if (c->verbose) // finding: uninitialised-read
		puts("talkative");
	printf("%d\n", c->level);
	free(c);
	return 0;
}
