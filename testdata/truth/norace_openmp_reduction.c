// verdict: none
// flags: -O1 -fopenmp
#include <stdio.h>

int main(void) {
	static int v[3000];
	long sum = 0;
#pragma omp parallel for num_threads(3)
	for (int i = 0; i < 3000; i++)
		v[i] = i % 7;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
	for (int i = 0; i < 3000; i++)
		sum += v[i];
	printf("%ld\n", sum);
	return 0;
}
