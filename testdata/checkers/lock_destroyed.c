// Objects are taken apart while their lock is held: by hand, and with their
// memory.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct object { pthread_mutex_t m; int n; };

static struct object *first, second = {PTHREAD_MUTEX_INITIALIZER, 0};

static void *user(void *arg) {
	pthread_mutex_lock(&first->m);
	pthread_mutex_lock(&second.m);
	first->n++;
	sleep(2);
	return NULL;
}

int main(void) {
	pthread_t t;
	first = malloc(sizeof *first);
	pthread_mutex_init(&first->m, NULL);
	first->n = 0;
	pthread_create(&t, NULL, user, NULL);
	sleep(1);
	pthread_mutex_destroy(&second.m); // finding: destroy-locked
	free(first); // finding: destroy-locked
	pthread_join(t, NULL);
	puts("done");
	return 0;
}
