// Who makes two tasks adds what they found without waiting for them.
// verdict: harmful
// flags: -O1 -fopenmp
#include <stdio.h>

static int weights[8] = {3, 1, 4, 1, 5, 9, 2, 6};
static int found, unused;

static int heaviest(const int *w, int n) {
	int most = 0;
	for (int i = 0; i < n; i++)
		if (w[i] > most)
			most = w[i];
	return most;
}

int main(void) {
	int total = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
	{
#pragma omp task
		found += heaviest(weights, 4);
#pragma omp task
		found += heaviest(weights + 4, 4);
#pragma omp taskwait
#pragma omp task
		unused += found;
#pragma omp task
		unused += 2 * found;
	}
	printf("done\n");
	return 0;
}
