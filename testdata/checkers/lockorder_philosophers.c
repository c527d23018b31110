// Everybody takes the left fork first.
#include <pthread.h>
#include <unistd.h>

#define N 4

static pthread_mutex_t fork_[N];

static void *philosopher(void *arg) {
	long i = (long)arg;
	usleep(i * 1000);
	pthread_mutex_lock(&fork_[i]);
	pthread_mutex_lock(&fork_[(i + 1) % N]); // finding: lock-order
	pthread_mutex_unlock(&fork_[(i + 1) % N]);
	pthread_mutex_unlock(&fork_[i]);
	return NULL;
}

int main(void) {
	pthread_t t[N];
	for (int i = 0; i < N; i++)
		pthread_mutex_init(&fork_[i], NULL);
	for (long i = 0; i < N; i++)
		pthread_create(&t[i], NULL, philosopher, (void *)i);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	return 0;
}
