// verdict: harmful
// flags: -O0
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct { unsigned a : 4, b : 4; } flags;

static void *set_a(void *arg) {
	for (int i = 0; i < 2000; i++)
		flags.a = i;
	return NULL;
}

static void *set_b(void *arg) {
	for (int i = 0; i < 2000; i++)
		flags.b = i;
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, set_a, NULL);
	pthread_create(&b, NULL, set_b, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", flags.a <= 15);
	return 0;
}
