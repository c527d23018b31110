// verdict: harmful
// neighbours are read while they are written: a barrier is missing
#include "threads.h"

static double cell[64];

static void *half(void *arg) {
	int from = (long)arg ? 32 : 1, to = (long)arg ? 63 : 32;
	for (int round = 0; round < 10; round++)
		for (int i = from; i < to; i++) cell[i] = (cell[i - 1] + cell[i + 1]) / 2;
	return 0;
}

int main(void) {
	cell[0] = 1, cell[63] = 2;
	threads(2, half);
	double sum = 0;
	for (int i = 0; i < 64; i++) sum += cell[i];
	printf("%.9f\n", sum);
	return 0;
}
