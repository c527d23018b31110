// What the world sees, and what the heap doesn't allow.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

char *volatile kept;
volatile int level = 3, again, look, seen;

__attribute__((noinline)) void show(void) {
	printf("level %d of %s\n", level, "all");
}

__attribute__((noinline)) void drop(void) {
	char *p = malloc(100);
	kept = p;
	free(p);
	if (look)
		seen = p[0];
	kept = p = malloc(100);
	if (again)
		free(p);
	free(p);
}

static void *other(void *arg) {
	level = again = look = 0;
	return NULL;
}

int main(void) {
	pthread_t t;
	puts("begins");
	show();
	show();
	drop();
	pthread_create(&t, NULL, other, NULL);
	pthread_join(t, NULL);
	return 0;
}
