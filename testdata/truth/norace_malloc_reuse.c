// verdict: none
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int out[2];

static void *churn(void *arg) {
	int s = 0;
	for (int i = 0; i < 200; i++) {
		char *p = malloc(24 + i % 5 * 600);
		memset(p, i, 24);
		s += p[3];
		free(p);
	}
	out[(long)arg] = s;
	return NULL;
}

int main(void) {
	pthread_t t[6];
	for (long i = 0; i < 6; i += 2) {
		pthread_create(&t[i], NULL, churn, (void *)0);
		pthread_create(&t[i + 1], NULL, churn, (void *)1);
		pthread_join(t[i], NULL);
		pthread_join(t[i + 1], NULL);
		if (i == 0)
			printf("%d\n", out[0] == out[1]);
	}
	return 0;
}
