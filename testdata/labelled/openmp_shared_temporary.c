// verdict: harmful
// flags: -fopenmp
// the temporary should be private
#include <stdio.h>

static int a[400], b[400], t;

int main(void) {
	for (int i = 0; i < 400; i++) a[i] = i, b[i] = 2 * i;
#pragma omp parallel for num_threads(2)
	for (int i = 0; i < 400; i++) {
		t = a[i];
		a[i] = b[i];
		b[i] = t;
	}
	long s = 0;
	for (int i = 0; i < 400; i++) s += b[i];
	return s < 0;
}
