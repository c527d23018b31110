// verdict: none
#include "threads.h"

static int part[4][64], whole[64];
static pthread_barrier_t all;

static void *work(void *arg) {
	long me = (long)arg;
	for (int i = 0; i < 64; i++) part[me][i] = i * (int)me;
	pthread_barrier_wait(&all);
	for (int i = (int)me * 16; i < (int)me * 16 + 16; i++)
		for (int k = 0; k < 4; k++) whole[i] += part[k][i];
	return 0;
}

int main(void) {
	pthread_barrier_init(&all, 0, 4);
	threads(4, work);
	printf("%d\n", whole[63]);
	return 0;
}
