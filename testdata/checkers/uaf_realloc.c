// The old address is used after realloc has moved the block.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
	int *a = malloc(10 * sizeof *a), *wall = malloc(16);
	for (int i = 0; i < 10; i++)
		a[i] = i;
	wall[0] = 1;
	int *third = &a[7];
	a = realloc(a, 5000 * sizeof *a);
	int v = *third; // finding: use-after-free
	printf("%d\n", a[7] + (v > 100000000));
	free(a);
	free(wall);
	return 0;
}
