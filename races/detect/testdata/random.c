// Threads that do random things to a few lines, the same ones for the same
// argument: reads, writes and updates of all sizes, alone and in sweeps over a
// line, locks, atomic operations, plain stores to and loads from variables that
// synchronise, semaphores, threads that start others half way.
#include <pthread.h>
#include <semaphore.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

enum { LINES = 5, THREADS = 4 };

// The first four bytes of every other line are a synchronisation variable.
struct { unsigned char b[64]; } area[LINES] __attribute__((aligned(64)));

static pthread_mutex_t lock[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static sem_t sem;
static int ops, first, sync_plain;
static uint64_t seed;

struct rng { uint64_t s; };

static unsigned pick(struct rng *r, unsigned n) {
	r->s ^= r->s << 13;
	r->s ^= r->s >> 7;
	r->s ^= r->s << 17;
	return (r->s >> 20) % n;
}

#define ACCESS(T, SUF)                                                                     \
	switch (how) {                                                                     \
	case 0: { T v; __asm__ volatile("mov" SUF " %1, %0" : "=r"(v) : "m"(*(T *)p)); break; } \
	case 1: __asm__ volatile("mov" SUF " %1, %0" : "=m"(*(T *)p) : "r"((T)how)); break;    \
	case 2: __asm__ volatile("add" SUF " %1, %0" : "+m"(*(T *)p) : "r"((T)3)); break;      \
	}

static void one(unsigned char *p, int size, int how) {
	switch (size) {
	case 1: ACCESS(uint8_t, "b") break;
	case 2: ACCESS(uint16_t, "w") break;
	case 4: ACCESS(uint32_t, "l") break;
	default: ACCESS(uint64_t, "q") break;
	}
}

static void *run(void *arg) {
	long id = (long)arg;
	struct rng r = {seed * 0x9E3779B97F4A7C15 + id * 0x1234567 + 1};
	pthread_t child;
	int has = 0, held = -1;
	for (int i = 0; i < 8; i++)
		pick(&r, 2);
	for (int i = 0; i < ops; i++) {
		int line = pick(&r, LINES), size = 1 << pick(&r, 4), how = pick(&r, 3);
		unsigned char *l = area[line].b;
		int lo = line % 2 == 0 ? 8 : 0;
		switch (pick(&r, 16)) {
		case 0: case 1:
			if (held < 0)
				pthread_mutex_lock(&lock[held = pick(&r, 2)]);
			else {
				pthread_mutex_unlock(&lock[held]);
				held = -1;
			}
			break;
		case 2:
			__atomic_fetch_add((int *)area[line & ~1].b, 1, __ATOMIC_SEQ_CST);
			break;
		case 3:
			if (sync_plain)
				one(area[line & ~1].b, 4, how);
			break;
		case 4:
			if (pick(&r, 2))
				sem_post(&sem);
			else
				sem_trywait(&sem);
			break;
		case 5:
			if (pick(&r, 4) == 0)
				sched_yield();
			break;
		case 6:
			if (!has && id + 1 < THREADS && i > ops / 8)
				has = !pthread_create(&child, 0, run, (void *)(id + 1));
			break;
		case 7: case 8: case 9:
			for (int k = pick(&r, 4); k >= 0; k--)
				for (int o = lo; o < 64; o += size)
					one(l + o, size, how);
			break;
		default:
			one(l + lo + size * pick(&r, (64 - lo) / size), size, how);
		}
	}
	if (held >= 0)
		pthread_mutex_unlock(&lock[held]);
	if (!has && id + 1 < THREADS)
		has = !pthread_create(&child, 0, run, (void *)(id + 1));
	if (has)
		pthread_join(child, 0);
	return 0;
}

int main(int argc, char **argv) {
	seed = strtoull(argv[1], 0, 10);
	ops = atoi(argv[2]);
	sync_plain = atoi(argv[3]);
	sem_init(&sem, 0, 0);
	run(0);
	return 0;
}
