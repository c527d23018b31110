// verdict: harmful
// flags: -O1
// checker: +use-after-free
// the last user frees the session, which a late one may have looked up already
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct session { int hits; char name[60]; };
static struct session *current;

static int visit(void) {
	struct session *s = current;
	if (!s)
		return 0;
	s->hits++;
	return s->hits;
}

static void leave(void) {
	struct session *s = current;
	current = NULL;
	if (s)
		free(s);
}

static void *visitor(void *arg) {
	for (volatile int i = 0; i < 10; i++)
		;
	visit();
	return NULL;
}

static void *leaver(void *arg) {
	for (volatile int i = 0; i < 60000; i++)
		;
	leave();
	return NULL;
}

int main(void) {
	pthread_t a, b;
	current = calloc(1, sizeof *current);
	pthread_create(&a, NULL, visitor, NULL);
	pthread_create(&b, NULL, leaver, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts("done");
	return 0;
}
