// A static program, whose run-time is in the same file.
// flags: -static
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *kept;
static __thread char *mine;

static void lose(void) {
	char *p = malloc(300); // finding: leak
	strcpy(p, "gone");
}

int main(void) {
	kept = malloc(24);
	strcpy(kept, "kept");
	mine = malloc(40);
	strcpy(mine, "mine");
	lose();
	printf("%s %s\n", kept, mine);
	return 0;
}
