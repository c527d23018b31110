// libgomp.
#include <omp.h>
#include <stdio.h>

int main(void) {
	double s = 0;
	long crit = 0, single = 0;
	int n = 0;
#pragma omp parallel for reduction(+ : s)
	for (int i = 1; i <= 100000; i++) s += 1.0 / i;
#pragma omp parallel num_threads(4)
	{
#pragma omp single
		single++;
#pragma omp critical
		crit++;
#pragma omp for schedule(dynamic, 10)
		for (int i = 0; i < 1000; i++) {
#pragma omp atomic
			n++;
		}
#pragma omp barrier
	}
#pragma omp parallel num_threads(3)
#pragma omp single
	for (int i = 0; i < 10; i++) {
#pragma omp task
		{
#pragma omp atomic
			n++;
		}
	}
	printf("%.6f %ld %ld %d\n", s, crit, single, n);
	return 0;
}
