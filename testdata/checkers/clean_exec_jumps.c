// flags: -O2
// findings: none
// A program that takes another's place has a C library of its own: a function
// that ends in a jump to its malloc allocates.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noipa)) static void *items(unsigned n, unsigned size)
{
	return malloc((size_t)n * size);
}

static void *(*volatile make)(unsigned, unsigned) = items;

int main(int argc, char **argv)
{
	long sum = 0;
	(void)argv;
	if (argc == 1) {
		execl("/proc/self/exe", "again", "1", (char *)NULL);
		return 1;
	}
	for (int i = 0; i < 3; i++) {
		long *large = malloc(4000);
		for (int k = 0; k < 500; k++)
			large[k] = i + k;
		sum += large[i];
		free(large);
		long *small[4];
		for (int k = 0; k < 4; k++) {
			small[k] = make(10, sizeof(long));
			for (int n = 0; n < 10; n++)
				small[k][n] = n * k;
			sum += small[k][i];
		}
		for (int k = 0; k < 4; k++)
			free(small[k]);
	}
	printf("%ld\n", sum);
	return 0;
}
