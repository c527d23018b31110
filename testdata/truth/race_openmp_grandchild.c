// taskwait waits for children, not for theirs: a counter is changed on both sides.
// verdict: harmful
// flags: -O1 -fopenmp
#include <stdio.h>

static int jobs;

static void spread(int depth) {
#pragma omp task
	{
		if (depth > 0)
			spread(depth - 1);
		jobs++;
	}
}

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
	{
		spread(3);
#pragma omp taskwait
		jobs++;
	}
	printf("done\n");
	return 0;
}
