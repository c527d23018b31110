// What the iterations of loops share is the thread's own, or in order: a buffer, a
// sum, the last value, what a lock guards, what is in order by the clause, the
// thread's place in a table.
// verdict: none
// flags: -O1 -fopenmp
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int out[40], places[64], guarded, ordered, last, total;
static int kept;
#pragma omp threadprivate(kept)

int main(void) {
	int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
	{
		char *buf = malloc(64);
		int mine = 0;
#pragma omp for schedule(dynamic) lastprivate(last) nowait
		for (int i = 0; i < 40; i++) {
			memset(buf, i, 64);
			out[i] = buf[3];
			mine += out[i];
			last = i;
		}
#pragma omp for schedule(guided)
		for (int i = 0; i < 40; i++) {
#pragma omp critical
			guarded += i;
			mine++;
		}
#pragma omp for schedule(dynamic, 2) ordered
		for (int i = 0; i < 20; i++) {
			out[i]++;
#pragma omp ordered
			ordered = 3 * ordered + i;
		}
#pragma omp for schedule(runtime) reduction(+ : total)
		for (int i = 0; i < 20; i++)
			total += out[i];
		free(buf);
		sum += mine;
	}
#pragma omp parallel for schedule(dynamic) num_threads(3)
	for (int i = 0; i < 20; i++) {
		kept += i;
		places[omp_get_thread_num()] += i;
	}
	int all = 0;
	for (int i = 0; i < 64; i++)
		all += places[i];
	printf("%d %d %d %d %d %d\n", sum, guarded, ordered, last, total, all);
	return 0;
}
