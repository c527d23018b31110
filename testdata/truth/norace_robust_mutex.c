// verdict: none
// flags: -O1
// A thread ends with a robust mutex: who gets it next knows what it did.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock;
static int value;

static void *die(void *unused) {
	pthread_mutex_lock(&lock);
	value = 1;
	return unused;
}

int main(void) {
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&lock, &a);
	pthread_t t;
	pthread_create(&t, 0, die, 0);
	usleep(10000);
	int r = pthread_mutex_lock(&lock);
	if (r == EOWNERDEAD)
		pthread_mutex_consistent(&lock);
	value += 2;
	pthread_mutex_unlock(&lock);
	pthread_join(t, 0);
	printf("%d %d\n", r == EOWNERDEAD, value);
	return 0;
}
