// Something to measure: a sieve, a hash and a sort.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned char sieve[1 << 20];
static int cmp(const void *a, const void *b) { return *(int *)a - *(int *)b; }

int main(void) {
	long primes = 0;
	for (int i = 2; i < 1 << 20; i++) {
		if (sieve[i]) continue;
		primes++;
		for (int j = 2 * i; j < 1 << 20; j += i) sieve[j] = 1;
	}
	uint64_t h = 14695981039346656037u;
	for (int k = 0; k < 20; k++)
		for (int i = 0; i < 1 << 18; i++) h = (h ^ sieve[i]) * 1099511628211u;
	int *v = malloc(sizeof *v << 16);
	for (int i = 0; i < 1 << 16; i++) v[i] = (int)(h >> 33) ^ i * 2654435761u;
	qsort(v, 1 << 16, sizeof *v, cmp);
	printf("%ld %lx %d\n", primes, h, v[1000]);
	return 0;
}
