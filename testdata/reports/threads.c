// Threads with names, and where they come from.
// created: producer by start main
// created: consumer by start main
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>
static long jobs;

static void *produce(void *arg)
{
	prctl(PR_SET_NAME, "producer");
	for (int i = 0; i < 50; i++)
		jobs++;
	return arg;
}
static void *consume(void *arg)
{
	for (int i = 0; i < 50; i++)
		jobs--;
	return arg;
}
__attribute__((noinline)) static pthread_t start(void *(*f)(void *))
{
	pthread_t t;
	pthread_create(&t, 0, f, 0);
	return t;
}
int main(void)
{
	pthread_t p = start(produce), c = start(consume);
	pthread_setname_np(c, "consumer");
	pthread_join(p, 0);
	pthread_join(c, 0);
	return 0;
}
