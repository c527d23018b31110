// verdict: harmful
// flags: -fopenmp
// each element needs the one before
#include <stdio.h>

static long a[300];

int main(void) {
	a[0] = 1;
	for (int i = 1; i < 300; i++) a[i] = i;
#pragma omp parallel for num_threads(2)
	for (int i = 1; i < 300; i++) a[i] = a[i] + a[i - 1] % 7;
	printf("%ld\n", a[299]);
	return 0;
}
