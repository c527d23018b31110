// The OpenMP run-time keeps its teams and threads to the end.
// flags: -fopenmp -O2
// findings: none
#include <stdio.h>
#include <stdlib.h>

int main(void) {
	enum { N = 4000 };
	double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
#pragma omp parallel for num_threads(3)
	for (int i = 0; i < N; i++) {
		a[i] = i;
		b[i] = 2 * i;
	}
	double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 100) num_threads(3)
	for (int i = 0; i < N; i++) {
		double *t = malloc(4 * sizeof *t);
		t[0] = a[i];
		t[1] = b[i];
		sum += t[0] + t[1];
		free(t);
	}
	printf("%.0f\n", sum);
	free(a);
	free(b);
	return 0;
}
