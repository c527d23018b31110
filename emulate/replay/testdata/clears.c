// One instruction gets more lines back from another thread than a replay keeps
// ready, after it has held all of them itself.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { WORDS = 6 * 1024 };
static uint64_t shared[WORDS];
static pthread_barrier_t turn;

static void fill(uint64_t v) {
	void *to = shared;
	uint64_t n = WORDS;
	__asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(v) : "memory");
}

static uint64_t sum(void) {
	uint64_t s = 0;
	for (int i = 0; i < WORDS; i++)
		s += shared[i];
	return s;
}

static void *other(void *arg) {
	for (int i = 0; i < 4; i++) {
		pthread_barrier_wait(&turn);
		fill(2 * i + 1);
		pthread_barrier_wait(&turn);
	}
	return 0;
}

int main(void) {
	pthread_t t;
	uint64_t s = 0;
	pthread_barrier_init(&turn, 0, 2);
	pthread_create(&t, 0, other, 0);
	for (int i = 0; i < 4; i++) {
		fill(2 * i);
		s += sum();
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
	}
	pthread_join(t, 0);
	printf("%lu %lu\n", s, sum());
	return 0;
}
