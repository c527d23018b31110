// verdict: harmful
// taking from the free list has the lock, giving back has not
#include "threads.h"

struct buffer { struct buffer *next; char data[24]; };

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct buffer buffers[24], *spare;

static struct buffer *get(void) {
	pthread_mutex_lock(&mu);
	struct buffer *b = spare;
	if (b) spare = b->next;
	pthread_mutex_unlock(&mu);
	return b;
}

static void put(struct buffer *b) {
	b->next = spare;
	spare = b;
}

static void *work(void *arg) {
	for (int i = 0; i < 50; i++) {
		struct buffer *b = get();
		if (b) put(b);
	}
	return 0;
}

int main(void) {
	for (int i = 0; i < 24; i++) put(&buffers[i]);
	threads(2, work);
	int n = 0;
	while (n < 100 && get()) n++;
	printf("%d buffers left\n", n);
	return 0;
}
