// The only pointer to a block goes out of scope.
#include <stdlib.h>
#include <string.h>

static void work(void) {
	char *p = malloc(100); // finding: leak
	memset(p, 1, 100);
}

int main(void) {
	work();
	return 0;
}
