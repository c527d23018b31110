// Threads that nobody waits for, beside joined, detached and running ones.
#include <pthread.h>
#include <stdio.h>
#include <threads.h>
#include <unistd.h>

static void *quick(void *arg) { return NULL; }
static int quick11(void *arg) { return 0; }
static void *own(void *arg) {
	pthread_detach(pthread_self());
	return NULL;
}
static void *slow(void *arg) {
	sleep(100);
	return NULL;
}

int main(void) {
	pthread_t t;
	thrd_t u;
	pthread_attr_t detached;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, quick, NULL); // finding: unjoined-thread
	pthread_create(&t, &detached, quick, NULL);
	pthread_create(&t, NULL, own, NULL);
	pthread_create(&t, NULL, slow, NULL);
	pthread_create(&t, NULL, quick, NULL);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, quick, NULL);
	pthread_detach(t);
	thrd_create(&u, quick11, NULL);
	thrd_join(u, NULL);
	thrd_create(&u, quick11, NULL); // finding: unjoined-thread
	sleep(1);
	puts("done");
	return 0;
}
