// Two contexts on stacks of their own take turns on each thread.
// stack: touch step coroutine
// stack: touch resume work
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>
static long inside, outside;
static volatile long sink;
struct pair {
	ucontext_t main, co;
};
static _Thread_local struct pair *mine;

__attribute__((noinline)) static void touch(long *p)
{
	*p += 1;
	sink = *p;
}
__attribute__((noinline)) static void step(void)
{
	touch(&inside);
	sink = 1;
}
static void coroutine(void)
{
	for (;;) {
		step();
		swapcontext(&mine->co, &mine->main);
	}
}
__attribute__((noinline)) static void resume(struct pair *p)
{
	swapcontext(&p->main, &p->co);
	touch(&outside);
	sink = 2;
}
static void *work(void *arg)
{
	struct pair *p = mine = calloc(1, sizeof *p);
	getcontext(&p->co);
	p->co.uc_stack.ss_sp = malloc(1 << 16);
	p->co.uc_stack.ss_size = 1 << 16;
	makecontext(&p->co, coroutine, 0);
	for (int i = 0; i < 20; i++)
		resume(p);
	sink = 3;
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return inside == 0 && outside == 0;
}
