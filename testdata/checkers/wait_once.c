// Waits without testing again. What another function repeats counts as a loop,
// if it keeps the mutex.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int jobs, taken;

static void pause_for_it(void) { pthread_cond_wait(&c, &m); }

static void *careful(void *arg) {
	pthread_mutex_lock(&m);
	while (jobs == 0)
		pause_for_it();
	jobs--;
	pthread_mutex_unlock(&m);
	return NULL;
}

static pthread_mutex_t stop_m = PTHREAD_MUTEX_INITIALIZER;
static int stop;

static void *asking(void *arg) {
	pthread_mutex_lock(&m);
	while (jobs == 0) {
		pthread_cond_wait(&c, &m);
		pthread_mutex_lock(&stop_m); // another one
		int s = stop;
		pthread_mutex_unlock(&stop_m);
		if (s)
			break;
	}
	pthread_mutex_unlock(&m);
	return NULL;
}

static void *careless(void *arg) {
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&m);
		if (jobs == 0)
			pthread_cond_wait(&c, &m); // finding: wait-without-loop
		if (jobs > 0)
			jobs--;
		taken++;
		pthread_mutex_unlock(&m);
	}
	return NULL;
}

int main(void) {
	pthread_t t, u, v;
	pthread_create(&t, NULL, careless, NULL);
	pthread_create(&u, NULL, careful, NULL);
	pthread_create(&v, NULL, asking, NULL);
	usleep(3000);
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&m);
		jobs += 2;
		pthread_cond_broadcast(&c);
		pthread_mutex_unlock(&m);
		usleep(1000);
	}
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	pthread_join(v, NULL);
	puts("done");
	return 0;
}
