// verdict: none
// flags: -O1 -fopenmp
#include <stdio.h>

int main(void) {
	long sum = 0;
	int singles = 0;
#pragma omp parallel num_threads(3)
	{
#pragma omp single
		singles++;
		for (int i = 0; i < 100; i++) {
#pragma omp critical
			sum += i;
		}
	}
	printf("%ld %d\n", sum, singles);
	return 0;
}
