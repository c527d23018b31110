// verdict: harmful
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int stock = 1;
static int sold[2];

static int sell(void) {
	if (stock > 0) {
		stock--;
		return 1;
	}
	return 0;
}

static void *clerk(void *arg) {
	for (int i = 0; i < 1000; i++)
		sold[(long)arg] += sell();
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, clerk, (void *)0);
	pthread_create(&b, NULL, clerk, (void *)1);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", sold[0] + sold[1] >= 1);
	return 0;
}
