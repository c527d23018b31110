// Heat in a plate by OpenMP: doubles, a reduction and a barrier each step.
#include <math.h>
#include <stdio.h>

enum { N = 256, STEPS = 60 };
static double a[N][N], b[N][N];

int main(void)
{
	for (int i = 0; i < N; i++)
		a[i][0] = b[i][0] = 100 * sin(i * 0.05);
	double diff = 0;
	for (int s = 0; s < STEPS; s++) {
		diff = 0;
#pragma omp parallel for reduction(+ : diff) num_threads(2)
		for (int i = 1; i < N - 1; i++)
			for (int j = 1; j < N - 1; j++) {
				b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
				diff += fabs(b[i][j] - a[i][j]);
			}
#pragma omp parallel for num_threads(2)
		for (int i = 1; i < N - 1; i++)
			for (int j = 1; j < N - 1; j++)
				a[i][j] = b[i][j];
	}
	printf("%.9f %.9f\n", diff, a[N / 2][N / 8]);
	return 0;
}
