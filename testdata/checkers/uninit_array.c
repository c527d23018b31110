// One element too many is summed.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
	long *a = malloc(11 * sizeof *a);
	for (int i = 0; i < 10; i++)
		a[i] = i;
	long sum = 0;
	for (int i = 0; i <= 10; i++)
		sum += a[i]; // finding: uninitialised-read
	printf("%ld\n", sum);
	free(a);
	return 0;
}
