// Tasks that what OpenMP promises puts in order: children by taskwait, all that
// belongs to a group by its end, all others by the barrier.
// verdict: none
// flags: -O1 -fopenmp
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 40 };

typedef struct { int left, right, sum; } Cut;

static int sums[N], scratch[64], calls;
#pragma omp threadprivate(calls)

static int fib(int n) {
	if (n < 2)
		return n;
	int a, b;
#pragma omp task shared(a)
	a = fib(n - 1);
#pragma omp task shared(b)
	b = fib(n - 2);
#pragma omp taskwait
	return a + b;
}

// A task's copy of a structure is its own, and so is its stack.
static void fill(Cut c) {
	int part[16];
	for (int i = 0; i < 16; i++)
		part[i] = c.left + i;
	for (int i = 0; i < 16; i++)
		c.sum += part[i];
	sums[c.right] = c.sum;
	calls++;
	scratch[omp_get_thread_num()] += c.sum; // nobody else executes here meanwhile
}

int main(void) {
	int total = 0, f = 0, deep = 0, locked = 0, counted = 0, loops = 0;
#pragma omp parallel num_threads(4)
	{
#pragma omp single
		{
#pragma omp taskgroup
			{
#pragma omp task shared(deep)
				{
#pragma omp task shared(deep)
					deep = 1; // a child's child
				}
			}
			deep++;
#pragma omp taskloop reduction(+ : loops) grainsize(5)
			for (int i = 0; i < N; i++)
				loops += i;
			loops++;
			for (int i = 0; i < N; i++) {
				Cut c = {i, i, 0};
#pragma omp task firstprivate(c)
				fill(c);
#pragma omp task shared(locked)
				{
#pragma omp critical
					locked += 2;
#pragma omp atomic
					counted++;
				}
			}
#pragma omp task shared(f)
			f = fib(7);
#pragma omp taskwait
#pragma omp task shared(f) if (f < 0)
			f = 1;
		}
		int mine = 0;
#pragma omp for reduction(+ : total)
		for (int i = 0; i < N; i++) {
			total += sums[i];
			mine++;
		}
	}
	printf("%d %d %d %d %d\n", total, f > 0, deep, loops, locked + counted);
	return 0;
}
