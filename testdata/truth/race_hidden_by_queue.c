// verdict: harmful
// flags: -O1
// Who takes from the queue may get what was there before: it proves nothing
// about the other thread. In the recording it came later, and saw another queue.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queue[16], head, tail, total;

static void put(int v) {
	pthread_mutex_lock(&lock);
	queue[tail++ % 16] = v;
	pthread_mutex_unlock(&lock);
}

static int get(void) {
	int v = 0;
	pthread_mutex_lock(&lock);
	if (head < tail)
		v = queue[head++ % 16];
	pthread_mutex_unlock(&lock);
	return v;
}

static void *putter(void *unused) {
	total += 3;
	put(2);
	return unused;
}

static void *getter(void *unused) {
	usleep(10000);
	int v = get();
	total += v;
	return unused;
}

int main(void) {
	pthread_t a, b;
	put(1);
	pthread_create(&a, NULL, putter, NULL);
	pthread_create(&b, NULL, getter, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", total > 0);
	return 0;
}
