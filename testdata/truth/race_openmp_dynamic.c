// Iterations of a dynamic loop share places of a table; mostly, one thread executes
// both that share one.
// verdict: harmful
// flags: -O1 -fopenmp
#include <stdio.h>

static int table[4];

int main(void) {
#pragma omp parallel for schedule(dynamic) num_threads(2)
	for (int i = 0; i < 8; i++)
		table[i / 2] += i;
	printf("done\n");
	return 0;
}
