// Large blocks come from mappings that threads take turns at the same address.
// findings: none
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIG (300 << 10)

static char *block;

static void *use(void *arg) {
	memset(block, 3, BIG);
	return NULL;
}

static void *own(void *arg) {
	char *p = malloc(BIG);
	memset(p, 4, BIG);
	long v = p[BIG - 1] + p[100000];
	free(p);
	return (void *)v;
}

int main(void) {
	long sum = 0;
	for (int i = 0; i < 4; i++) {
		pthread_t t;
		void *r;
		pthread_create(&t, NULL, own, NULL);
		pthread_join(t, &r);
		sum += (long)r;
		block = malloc(BIG);
		pthread_create(&t, NULL, use, NULL);
		pthread_join(t, NULL);
		sum += block[5] + block[BIG - 1];
		block = realloc(block, 2 * BIG);
		memset(block + BIG, 5, BIG);
		sum += block[7] + block[2 * BIG - 1];
		free(block);
	}
	printf("%ld\n", sum);
	return 0;
}
