// Four threads use counters, a lock-free stack of nodes that are never taken
// down, and a ticket lock, all by atomic instructions.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sched.h>

enum { THREADS = 4, N = 100000, TURNS = 200 };
struct node {
	struct node *next;
	int value;
};
static struct node nodes[THREADS][N];
static _Atomic(struct node *) top;
static atomic_ulong counter[8];
static atomic_uint ticket, serving;
static long guarded;

static void *run(void *arg)
{
	int me = (int)(long)arg;
	for (int i = 0; i < N; i++) {
		struct node *n = &nodes[me][i];
		n->value = i;
		n->next = atomic_load_explicit(&top, memory_order_relaxed);
		while (!atomic_compare_exchange_weak(&top, &n->next, n))
			;
		atomic_fetch_add(&counter[i % 8], i);
		atomic_fetch_xor_explicit(&counter[(i + me) % 8], 1, memory_order_relaxed);
		if (i % TURNS == 0) {
			unsigned mine = atomic_fetch_add(&ticket, 1);
			while (atomic_load_explicit(&serving, memory_order_acquire) != mine)
				sched_yield();
			guarded++;
			atomic_store_explicit(&serving, mine + 1, memory_order_release);
		}
	}
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	long sum = 0;
	for (struct node *n = top; n; n = n->next)
		sum += n->value;
	for (int i = 0; i < 8; i++)
		sum += counter[i] >> 1;
	printf("%ld %ld\n", sum, guarded);
	return 0;
}
