// verdict: harmful
// flags: -fopenmp
// counts get lost
#include <stdio.h>

static int data[2000], count[16];

int main(void) {
	for (int i = 0; i < 2000; i++) data[i] = (i * 7919) % 16;
#pragma omp parallel for num_threads(2)
	for (int i = 0; i < 2000; i++) count[data[i]]++;
	int n = 0;
	for (int i = 0; i < 16; i++) n += count[i];
	return n > 2000;
}
