// verdict: harmful
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct session { int id; int open; };
static struct session *cur;
static int used;

static void *closer(void *arg) {
	for (volatile int i = 0; i < 3000; i++)
		;
	free(cur);
	return NULL;
}

static void *user(void *arg) {
	for (int i = 0; i < 500; i++)
		used += *(volatile int *)&cur->id;
	return NULL;
}

int main(void) {
	pthread_t a, b;
	cur = malloc(sizeof *cur);
	cur->id = 1;
	pthread_create(&a, NULL, closer, NULL);
	pthread_create(&b, NULL, user, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("done\n");
	return 0;
}
