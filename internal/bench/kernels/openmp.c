// A product of matrices whose rows are handed out, and a sum of all elements.
#include <stdio.h>

#define N 200

static double a[N][N], b[N][N], c[N][N];

int main(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			a[i][j] = i + j;
			b[i][j] = i - j;
		}
#pragma omp parallel for num_threads(2) schedule(dynamic, 4)
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double s = 0;
			for (int k = 0; k < N; k++)
				s += a[i][k] * b[k][j];
			c[i][j] = s;
		}
	double t = 0;
#pragma omp parallel for num_threads(2) reduction(+ : t)
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			t += c[i][j];
	printf("%g\n", t);
	return 0;
}
