// Another thread reads what was never set.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct task { int kind; int limit; void *next; };

static void *run(void *arg) {
	struct task *t = arg;
	long n = 0;
	while (n < 5 && n < t->limit) // finding: uninitialised-read
		n++;
	t->kind = 0;
	return (void *)n;
}

int main(void) {
	struct task *t = malloc(sizeof *t);
	t->kind = 2;
	t->next = NULL;
	pthread_t th;
	pthread_create(&th, NULL, run, t);
	pthread_join(th, NULL);
	printf("%d\n", t->kind);
	free(t);
	return 0;
}
