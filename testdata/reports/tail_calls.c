// Functions that end in calls: with optimisation they are jumps.
// stack: touch inner outer work
#include <pthread.h>
static long total;
static volatile long sink;

__attribute__((noinline)) static long touch(long n)
{
	total += n;
	sink = n;
	return n;
}
__attribute__((noinline)) static long inner(long n)
{
	sink = n;
	return touch(n + 1);
}
__attribute__((noinline)) static long outer(long n)
{
	sink = n;
	return inner(n + 1);
}
static void *work(void *arg)
{
	for (int i = 0; i < 50; i++)
		sink = outer(i);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return total == 0;
}
