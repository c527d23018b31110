// verdict: none
// flags: -O1
// Double-checked initialisation as it should be: the variable's type says that
// its loads and stores synchronise.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct table {
	int size, cells[16];
};
static struct table *_Atomic shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct table *get(void) {
	struct table *t = atomic_load_explicit(&shared, memory_order_acquire);
	if (t)
		return t;
	pthread_mutex_lock(&lock);
	t = atomic_load_explicit(&shared, memory_order_relaxed);
	if (!t) {
		t = malloc(sizeof *t);
		t->size = 16;
		for (int i = 0; i < 16; i++)
			t->cells[i] = i * i;
		atomic_store_explicit(&shared, t, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return t;
}

static void *run(void *sum) {
	for (int i = 0; i < 16; i++)
		*(long *)sum += get()->cells[i];
	return sum;
}

int main(void) {
	pthread_t t[4];
	long sum[4] = {0};
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], 0, run, &sum[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	printf("%ld\n", sum[0] + sum[1] + sum[2] + sum[3]);
	free(shared);
	return 0;
}
