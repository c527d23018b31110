// Four threads move amounts between accounts, each with a lock, and pass work
// through a bounded queue with conditions.
#include <pthread.h>
#include <stdio.h>

enum { ACCOUNTS = 64, MOVES = 150000, QUEUE = 32, ITEMS = 20000 };
static struct {
	pthread_mutex_t lock;
	long money;
} account[ACCOUNTS];
static pthread_mutex_t qlock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t space = PTHREAD_COND_INITIALIZER, items = PTHREAD_COND_INITIALIZER;
static int queue[QUEUE], head, tail;
static long consumed;

static void *mover(void *arg)
{
	unsigned x = (unsigned)(long)arg;
	for (int i = 0; i < MOVES; i++) {
		x = x * 1664525 + 1013904223;
		int a = x >> 26, b = (x >> 18) % ACCOUNTS;
		if (a == b)
			continue;
		if (a > b) {
			int t = a;
			a = b;
			b = t;
		}
		pthread_mutex_lock(&account[a].lock);
		pthread_mutex_lock(&account[b].lock);
		account[a].money--;
		account[b].money++;
		pthread_mutex_unlock(&account[b].lock);
		pthread_mutex_unlock(&account[a].lock);
	}
	return NULL;
}

static void *producer(void *arg)
{
	for (int i = 0; i < ITEMS; i++) {
		pthread_mutex_lock(&qlock);
		while (head - tail == QUEUE)
			pthread_cond_wait(&space, &qlock);
		queue[head++ % QUEUE] = i;
		pthread_cond_signal(&items);
		pthread_mutex_unlock(&qlock);
	}
	return arg;
}

static void *consumer(void *arg)
{
	for (int i = 0; i < ITEMS; i++) {
		pthread_mutex_lock(&qlock);
		while (head == tail)
			pthread_cond_wait(&items, &qlock);
		consumed += queue[tail++ % QUEUE];
		pthread_cond_signal(&space);
		pthread_mutex_unlock(&qlock);
	}
	return arg;
}

int main(void)
{
	pthread_t t[4];
	for (int i = 0; i < ACCOUNTS; i++)
		pthread_mutex_init(&account[i].lock, NULL);
	pthread_create(&t[0], NULL, mover, (void *)1L);
	pthread_create(&t[1], NULL, mover, (void *)2L);
	pthread_create(&t[2], NULL, producer, NULL);
	pthread_create(&t[3], NULL, consumer, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	long sum = 0;
	for (int i = 0; i < ACCOUNTS; i++)
		sum += account[i].money;
	printf("%ld %ld\n", sum, consumed);
	return 0;
}
