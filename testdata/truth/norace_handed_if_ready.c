// verdict: none
// flags: -O1
// The variable is the other thread's only if it says so under the lock. Had the
// sections come in the other order, the second access wouldn't happen.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready, total;

static void *early(void *unused) {
	total += 3;
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *late(void *unused) {
	usleep(10000);
	pthread_mutex_lock(&lock);
	int mine = ready;
	pthread_mutex_unlock(&lock);
	if (mine)
		total += 7;
	return unused;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, early, NULL);
	pthread_create(&b, NULL, late, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", total > 0);
	return 0;
}
