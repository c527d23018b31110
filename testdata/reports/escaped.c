// Variables on a stack that others work on.
// variable: counts.hits
// variable: counts.last[1]
#include <pthread.h>
struct counts {
	long tries;
	int hits, last[3];
};

static void *work(void *arg)
{
	struct counts *c = arg;
	for (int i = 0; i < 50; i++) {
		c->hits++;
		c->last[1] += i;
	}
	return arg;
}
__attribute__((noinline)) static int run(int n)
{
	struct counts counts = {.tries = n};
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, work, &counts);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return counts.hits == 0;
}
int main(void) { return run(3) + run(4); }
