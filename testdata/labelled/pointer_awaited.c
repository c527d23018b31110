// verdict: synchronisation
// race heap: none
#include "threads.h"

struct job { int a, b; };
static struct job *volatile job;
static int result;

static void *boss(void *arg) {
	struct job *j = malloc(sizeof *j);
	j->a = 6, j->b = 7;
	__asm__ volatile("" ::: "memory");
	job = j;
	return 0;
}

static void *worker(void *arg) {
	while (!job);
	result = job->a * job->b;
	return 0;
}

int main(void) {
	both(worker, boss);
	printf("%d\n", result);
	return 0;
}
