// verdict: harmful
// flags: -O1
// The worker is joined only after the mutex that it locks was destroyed.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static struct {
	pthread_mutex_t lock;
	int lines;
} out;

static void *worker(void *arg) {
	for (int i = 0; i < 20; i++) {
		if (pthread_mutex_lock(&out.lock) != 0)
			continue;
		out.lines++;
		pthread_mutex_unlock(&out.lock);
	}
	return NULL;
}

int main(void) {
	pthread_t t;
	pthread_mutex_init(&out.lock, NULL);
	pthread_create(&t, NULL, worker, NULL);
	usleep(1000); // it will be done by then
	while (pthread_mutex_destroy(&out.lock) != 0)
		;
	pthread_join(t, NULL);
	printf("done\n");
	return 0;
}
