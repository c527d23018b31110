// A recursion far deeper than what a table shows.
// stack: leaf descend descend descend descend descend descend descend descend descend descend work
#include <pthread.h>
static long total;
static volatile long sink;
__attribute__((noinline)) static void leaf(void) { total++; sink = 1; }
#if defined(__clang__)
__attribute__((noinline))
#else
__attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))
#endif
static void descend(int n)
{
	if (n == 0)
		leaf();
	else
		descend(n - 1);
	sink = n;
}
static void *work(void *arg)
{
	for (int i = 0; i < 10; i++) {
		descend(200);
		sink = i;
	}
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
