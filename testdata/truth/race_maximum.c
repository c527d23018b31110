// verdict: harmful
// flags: -O0
// the last round of the one and the first of the other do no harm together
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

float best = -1;
float scores[64];

void *scan(void *arg) {
	for (int i = (int)(intptr_t)arg; i < 64; i += 2)
		if (scores[i] > best)
			best = scores[i];
	return NULL;
}

int main(void) {
	pthread_t a, b;
	for (int i = 0; i < 64; i++)
		scores[i] = i * 37 % 64;
	pthread_create(&a, NULL, scan, (void *)0);
	pthread_create(&b, NULL, scan, (void *)1);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts("scanned");
	return 0;
}
