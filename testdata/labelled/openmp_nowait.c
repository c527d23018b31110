// verdict: harmful
// flags: -fopenmp
// the second loop reads what other threads write in the first, and nobody waits in between
#include <stdio.h>

static int a[300], b[300];

int main(void) {
	long s = 0;
#pragma omp parallel num_threads(3)
	{
#pragma omp for nowait
		for (int i = 0; i < 300; i++) a[i] = i + 1;
#pragma omp for
		for (int i = 0; i < 300; i++) b[i] = a[299 - i];
	}
	for (int i = 0; i < 300; i++) s += b[i];
	printf("%ld\n", s);
	return 0;
}
