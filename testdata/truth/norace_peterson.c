// verdict: synchronisation
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdatomic.h>

static volatile int want[2], turn;
static int counter;

static void lock(int me) {
	want[me] = 1;
	turn = 1 - me;
	atomic_thread_fence(memory_order_seq_cst);
	while (want[1 - me] && turn == 1 - me)
		;
}

static void unlock(int me) { want[me] = 0; }

static void *worker(void *arg) {
	int me = (int)(long)arg;
	for (int i = 0; i < 300; i++) {
		lock(me);
		counter++;
		unlock(me);
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, worker, (void *)0);
	pthread_create(&b, NULL, worker, (void *)1);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", counter);
	return 0;
}
