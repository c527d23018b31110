// verdict: harmful
// a queue with a lock for its head and one for its tail; the number of items belongs to neither
#include "threads.h"

static pthread_mutex_t front = PTHREAD_MUTEX_INITIALIZER, back = PTHREAD_MUTEX_INITIALIZER;
static int items[256], head, tail;
static int count;

static void *put(void *arg) {
	for (int i = 0; i < 120; i++) {
		pthread_mutex_lock(&back);
		items[tail++ % 256] = i;
		count++;
		pthread_mutex_unlock(&back);
	}
	return 0;
}

static long sum;

static void *take(void *arg) {
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&front);
		if (count > 0) {
			sum += items[head++ % 256];
			count--;
		}
		pthread_mutex_unlock(&front);
		if (i % 8 == 0) sched_yield();
	}
	return 0;
}

int main(void) {
	both(put, take);
	printf("%d left\n", count);
	return 0;
}
