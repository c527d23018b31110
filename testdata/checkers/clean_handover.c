// Blocks are allocated by one thread, filled by others, freed by anybody, and
// handed out again.
// findings: none
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 400

struct msg { struct msg *next; size_t n; long sum; unsigned char data[]; };

static struct msg *queue;
static int done;
static long total;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void *consumer(void *arg) {
	for (;;) {
		pthread_mutex_lock(&m);
		while (!queue && !done)
			pthread_cond_wait(&c, &m);
		struct msg *q = queue;
		if (q)
			queue = q->next;
		pthread_mutex_unlock(&m);
		if (!q)
			return NULL;
		long sum = 0;
		for (size_t i = 0; i < q->n; i++)
			sum += q->data[i];
		char *work = malloc(q->n + 16);
		memset(work, 1, q->n);
		for (size_t i = 0; i < q->n; i++)
			sum += work[i];
		free(work);
		pthread_mutex_lock(&m);
		total += sum - q->sum;
		pthread_mutex_unlock(&m);
		free(q);
	}
}

int main(void) {
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, consumer, NULL);
	for (int i = 0; i < N; i++) {
		size_t n = i * 31 % 700 + 1;
		struct msg *q = malloc(sizeof *q + n);
		q->n = n;
		q->sum = 0;
		for (size_t k = 0; k < n; k++) {
			q->data[k] = k + i;
			q->sum += q->data[k];
		}
		pthread_mutex_lock(&m);
		q->next = queue;
		queue = q;
		pthread_cond_signal(&c);
		pthread_mutex_unlock(&m);
	}
	pthread_mutex_lock(&m);
	done = 1;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	long want = 0;
	for (int i = 0; i < N; i++)
		want += i * 31 % 700 + 1;
	printf("%d\n", total == want);
	return 0;
}
