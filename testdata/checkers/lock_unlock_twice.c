// An error path gives up the lock, and so does the end of the function.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;

static int get(int bad) {
	pthread_mutex_lock(&m);
	if (bad)
		pthread_mutex_unlock(&m);
	pthread_mutex_unlock(&m); // finding: wrong-unlock
	return bad;
}

int main(void) {
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	get(0);
	get(1);
	pthread_rwlock_rdlock(&rw);
	pthread_rwlock_rdlock(&rw);
	pthread_rwlock_unlock(&rw);
	pthread_rwlock_unlock(&rw);
	pthread_spin_lock(&spin);
	pthread_spin_unlock(&spin);
	puts("done");
	return 0;
}
