// flags: -O2
// verdict: none
// locks are taken and given up by functions that only jump to where a table points
#include <pthread.h>
#include <stdio.h>

struct table {
	int (*lock)(pthread_mutex_t *);
	int (*unlock)(pthread_mutex_t *);
};
static struct table *volatile table;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long n;

static __attribute__((noinline)) int take(pthread_mutex_t *x) { return table->lock(x); }
static __attribute__((noinline)) int give(pthread_mutex_t *x) { return table->unlock(x); }

static void *work(void *arg) {
	for (int i = 0; i < 20; i++) {
		take(&m);
		n++;
		if (i % 2)
			give(&m);
		else
			pthread_mutex_unlock(&m);
	}
	return NULL;
}

int main(void) {
	static struct table t = {pthread_mutex_lock, pthread_mutex_unlock};
	pthread_t a, b;
	table = &t;
	pthread_create(&a, NULL, work, NULL);
	pthread_create(&b, NULL, work, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%ld\n", n);
	return 0;
}
