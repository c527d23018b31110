// What belongs to a thread isn't shared by the sections that it happens to execute:
// its variables, a buffer that it allocated, its place in an array.
// verdict: none
// flags: -O1 -fopenmp
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int places[64], a, b, c;

static int fill(char *buf, int n, char with) {
	memset(buf, with, n);
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += buf[i];
	return sum;
}

int main(void) {
	int last = 0, sum = 0, done = 0;
#pragma omp parallel num_threads(3)
	{
		char *buf = malloc(100);
		int mine = 0;
#pragma omp sections lastprivate(last) reduction(+ : sum)
		{
#pragma omp section
			{
				a = fill(buf, 100, 1);
				sum += a;
				mine++;
			}
#pragma omp section
			{
				b = fill(buf, 50, 2);
				sum += b;
				mine++;
			}
#pragma omp section
			{
				c = fill(buf, 25, 3);
				sum += c;
				last = c;
				mine++;
			}
		}
		free(buf);
#pragma omp critical
		done += mine;
	}
#pragma omp parallel num_threads(3)
	{
		int *place = &places[omp_get_thread_num()];
#pragma omp sections nowait
		{
#pragma omp section
			++*place;
#pragma omp section
			++*place;
		}
		++*place;
	}
	printf("%d %d %d %d\n", a + b + c, last, sum, done);
	return 0;
}
