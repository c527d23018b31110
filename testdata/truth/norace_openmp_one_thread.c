// A region of one thread executes its tasks one after the other.
// verdict: none
// flags: -O1 -fopenmp
#include <stdio.h>

int main(void) {
	int n = 0;
#pragma omp parallel num_threads(1)
	for (int i = 0; i < 5; i++) {
#pragma omp task shared(n)
		n++;
	}
#pragma omp task shared(n)
	n++;
	printf("%d\n", n);
	return 0;
}
