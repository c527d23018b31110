// One of three tasks names another address than the rest: nothing puts it in order
// with them, whichever thread executes it.
// verdict: harmful
// flags: -O1 -fopenmp
#include <stdio.h>

static int stock = 10, sold, lent;

int main(void) {
#pragma omp parallel num_threads(4)
#pragma omp single
	for (int day = 0; day < 4; day++) {
#pragma omp task depend(inout : stock)
		stock += 5;
#pragma omp task depend(inout : stock) depend(out : sold)
		{
			sold++;
			stock -= 2;
		}
#pragma omp task depend(inout : lent)
		{
			lent++;
			stock -= 1;
		}
	}
	printf("done\n");
	return 0;
}
