// A reader of one lock waits to write the other, and the other way round.
#include <pthread.h>
#include <unistd.h>

static pthread_rwlock_t names = PTHREAD_RWLOCK_INITIALIZER, ids = PTHREAD_RWLOCK_INITIALIZER;

static void *rename_all(void *arg) {
	pthread_rwlock_rdlock(&ids);
	pthread_rwlock_wrlock(&names); // finding: lock-order
	pthread_rwlock_unlock(&names);
	pthread_rwlock_unlock(&ids);
	return NULL;
}

static void *renumber(void *arg) {
	usleep(2000);
	pthread_rwlock_rdlock(&names);
	pthread_rwlock_wrlock(&ids);
	pthread_rwlock_unlock(&ids);
	pthread_rwlock_unlock(&names);
	return NULL;
}

int main(void) {
	pthread_t t, u;
	pthread_create(&t, NULL, rename_all, NULL);
	pthread_create(&u, NULL, renumber, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
