// What longjmp leaves is gone from the stack.
// stack: after work
// never: deep
#include <pthread.h>
#include <setjmp.h>
static long total;
static volatile long sink;

__attribute__((noinline)) static void deep(jmp_buf *b, int n)
{
	if (n == 0)
		longjmp(*b, 1);
	deep(b, n - 1);
	sink = n;
}
__attribute__((noinline)) static void after(void) { total++; }
static void *work(void *arg)
{
	jmp_buf b;
	for (volatile int i = 0; i < 20; i++) {
		if (setjmp(b) == 0)
			deep(&b, 5);
		after();
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
