// verdict: harmful
// flags: -O1
// Readers change what they should only read. That one takes the lock after the
// other has given it up orders nothing: neither waits for the other.
#include <pthread.h>
#include <unistd.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int hits;

static void *reader(void *arg) {
	if (arg) usleep(10000);
	pthread_rwlock_rdlock(&lock);
	hits += 3;
	pthread_rwlock_unlock(&lock);
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, reader, NULL);
	pthread_create(&b, NULL, reader, "later");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return hits != 6;
}
