// verdict: harmful
// flags: -O1
// the pointer is set before what it points to; who sees that counts in a
// variable that nobody has touched in the recording
#include <pthread.h>
#include <stdio.h>

static struct table { int v[4]; } storage, *volatile table;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static int bad;

static struct table *get(void) {
	if (!table) {
		pthread_mutex_lock(&mu);
		if (!table) {
			table = &storage;
			for (int i = 0; i < 4; i++)
				*(volatile int *)&storage.v[i] = i + 1;
		}
		pthread_mutex_unlock(&mu);
	}
	return table;
}

static void *use(void *arg) {
	struct table *t = get();
	int sum = 0;
	for (int i = 0; i < 4; i++)
		sum += *(volatile int *)&t->v[i];
	if (sum != 10)
		__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
	return NULL;
}

int main(void) {
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, use, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	puts("used");
	return 0;
}
