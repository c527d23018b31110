// verdict: harmful
// flags: -O2
// the load is atomic and so is the store, and yet the update isn't
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int n;

static void *count(void *arg) {
	for (int i = 0; i < 300; i++)
		atomic_store(&n, atomic_load(&n) + 1);
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, count, NULL);
	pthread_create(&b, NULL, count, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts("counted");
	return 0;
}
