// verdict: benign
// flags: -fopenmp
// whether there is any: all that find one write the same
#include <stdio.h>

static unsigned char text[600];

int main(void) {
	int any = 0;
	for (int i = 0; i < 600; i++) text[i] = i * 31 % 251;
#pragma omp parallel for num_threads(3) shared(any)
	for (int i = 0; i < 600; i++)
		if (text[i] == 7) any = 1;
	printf("%d\n", any);
	return 0;
}
