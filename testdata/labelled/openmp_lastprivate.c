// verdict: none
// flags: -fopenmp
// each thread has a copy of its own, and the last iteration's is kept
#include <stdio.h>

static int squares[200];

int main(void) {
	int last = -1;
	long sum = 0;
#pragma omp parallel for num_threads(3) lastprivate(last) reduction(+ : sum)
	for (int i = 0; i < 200; i++) {
		last = i * i;
		squares[i] = last;
		sum += last;
	}
	printf("%d %ld\n", last, sum);
	return 0;
}
