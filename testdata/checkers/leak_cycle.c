// Two blocks that point to each other and that nothing else points to.
#include <stdlib.h>

struct peer { struct peer *other; long id; };

static void pair(void) {
	struct peer *p = malloc(sizeof *p); // finding: leak
	struct peer *q = malloc(sizeof *q);
	p->other = q;
	q->other = p;
	p->id = 1;
	q->id = 2;
}

int main(void) {
	pair();
	return 0;
}
