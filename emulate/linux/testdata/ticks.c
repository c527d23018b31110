// A thread spins until another has set a flag, and a third one wakes up every
// now and then.
#include <pthread.h>
#include <time.h>

static volatile int done;

static void *tick(void *arg) {
	while (!done)
		nanosleep(&(struct timespec){0, 50000}, 0);
	return 0;
}

static void *spin(void *arg) {
	while (!done)
		;
	return 0;
}

static void *set(void *arg) {
	done = 1;
	return 0;
}

int main(void) {
	pthread_t t[3];
	pthread_create(&t[0], 0, tick, 0);
	pthread_create(&t[1], 0, spin, 0);
	pthread_create(&t[2], 0, set, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}
