// verdict: harmful
// flags: -O1
// An update without the lock comes long before the other thread takes the lock
// for its own. The lock, taken in between for something else, orders the two in
// nearly every run, but nothing makes it come in that order.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, other;

static void *early(void *arg) {
	total += 5;
	pthread_mutex_lock(&lock);
	other++;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *late(void *arg) {
	usleep(20000);
	pthread_mutex_lock(&lock);
	total += 7;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, early, NULL);
	pthread_create(&b, NULL, late, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return total != 12;
}
