// Blocks are lost because the variable that holds them gets another value.
#include <stdlib.h>
#include <string.h>

static char *current;
static char **table;

static void load(int n) {
	current = malloc(50 + n); // finding: leak
	memset(current, n, 50);
}

int main(void) {
	for (int i = 0; i < 4; i++)
		load(i);
	table = calloc(4, sizeof *table);
	table[0] = malloc(10); // finding: leak
	table[1] = malloc(10);
	table[0] = table[1];
	return 0;
}
