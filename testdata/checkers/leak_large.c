// A block that has a mapping of its own.
#include <stdlib.h>
#include <string.h>

static void lose(void) {
	char *p = malloc(1 << 20); // finding: leak
	memset(p, 1, 1000);
}

int main(void) {
	lose();
	char *q = malloc(1 << 20);
	q[5] = 1;
	free(q);
	return 0;
}
