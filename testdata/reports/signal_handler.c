// A handler interrupts a computation.
// stack: count handler [signal] compute work
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static long ticks;
static volatile long sink;

__attribute__((noinline)) static void count(void) { ticks++; }
static void handler(int sig)
{
	count();
	sink = sig;
}
__attribute__((noinline)) static void compute(void)
{
	for (int i = 0; i < 200; i++) {
		sink = i;
		if (i == 100)
			raise(SIGUSR1);
	}
}
static void *work(void *arg)
{
	for (int i = 0; i < 5; i++) {
		compute();
		sink = i;
	}
	return arg;
}
int main(void)
{
	pthread_t t[2];
	struct sigaction a = {.sa_handler = handler};
	sigaction(SIGUSR1, &a, 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return ticks == 0;
}
