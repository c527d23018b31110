// verdict: harmful
// flags: -O0 -fopenmp
#include <stdio.h>

int main(void) {
	static int v[4000];
	long sum = 0;
	for (int i = 0; i < 4000; i++)
		v[i] = 1;
#pragma omp parallel for num_threads(3) shared(sum)
	for (int i = 0; i < 4000; i++)
		sum += v[i];
	printf("%d\n", sum <= 4000);
	return 0;
}
