// Two sections count in one variable; mostly, one thread is fast enough to execute
// both.
// verdict: harmful
// flags: -O1 -fopenmp
#include <stdio.h>

static int seen;

static void look(const char *s) {
	for (; *s; s++)
		if (*s == 'a')
			seen++;
}

int main(void) {
#pragma omp parallel sections num_threads(2)
	{
#pragma omp section
		look("abracadabra");
#pragma omp section
		look("alabama");
	}
	printf("done\n");
	return 0;
}
