// Computes for some 50 million instructions, with as many bytes as it is told to.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	size_t n = atol(argv[1]);
	unsigned char *b = calloc(n, 1);
	unsigned long sum = 0;
	for (long i = 0; i < 4000000; i++)
		sum += b[i * 64 % n]++;
	printf("%lu\n", sum);
	return 0;
}
