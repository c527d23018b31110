// verdict: harmful
// flags: -O0
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct object { int refs; int payload; };
static struct object *obj;

static void hold(struct object *o) { o->refs++; }
static void drop(struct object *o) { o->refs--; }

static void *user(void *arg) {
	for (int i = 0; i < 1500; i++) {
		hold(obj);
		drop(obj);
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	obj = calloc(1, sizeof *obj);
	obj->refs = 1;
	pthread_create(&a, NULL, user, NULL);
	pthread_create(&b, NULL, user, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", obj->refs != 12345);
	free(obj);
	return 0;
}
