// verdict: harmful
// flags: -fopenmp
// a larger maximum may be overwritten by a smaller one
#include <stdio.h>

static int v[500], most;

int main(void) {
	for (int i = 0; i < 500; i++) v[i] = (i * 7919) % 1009;
#pragma omp parallel for num_threads(2)
	for (int i = 0; i < 500; i++)
		if (v[i] > most) most = v[i];
	return most < 0;
}
