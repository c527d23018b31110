// A pipeline of tasks that their depend clauses put in order; the sums at the end
// exclude each other.
// verdict: none
// flags: -O1 -fopenmp
#include <stdio.h>

enum { ROUNDS = 6 };

int main(void) {
	int raw = 0, cooked = 0, left = 0, right = 0, total = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
	{
		for (int i = 0; i < ROUNDS; i++) {
#pragma omp task depend(out : raw)
			raw = i;
#pragma omp task depend(in : raw) depend(out : cooked)
			cooked = raw * 2;
#pragma omp task depend(in : cooked) depend(out : left)
			left = cooked + 1;
#pragma omp task depend(in : cooked) depend(out : right)
			right = cooked - 1;
#pragma omp task depend(in : left) depend(mutexinoutset : total)
			total += left;
#pragma omp task depend(in : right) depend(mutexinoutset : total)
			total += right;
		}
#pragma omp task depend(in : total) if (0)
		printf("%d so far\n", total);
#pragma omp taskwait depend(in : total)
		total++;
	}
	printf("%d\n", total);
	return 0;
}
