// verdict: none
// flags: -O1 -fopenmp
#include <stdio.h>

static int last, odd;

int main(void) {
#pragma omp parallel num_threads(3)
	for (int i = 0; i < 20; i++) {
		int v;
#pragma omp atomic write
		last = 2 * i;
#pragma omp atomic read
		v = last;
		if (v & 1) {
#pragma omp atomic
			odd++;
		}
	}
	printf("%d\n", odd);
	return 0;
}
