// verdict: harmful
// flags: -O1
// a configuration is replaced and the old one freed while others may read it
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct conf { int a, b; };
static struct conf *volatile conf;
static volatile long sum;

static void *reader(void *arg) {
	long s = 0;
	for (int i = 0; i < 400; i++) {
		struct conf *c = conf;
		for (volatile int k = 0; k < 3; k++)
			;
		s += c->a + c->b;
	}
	sum = s;
	return NULL;
}

static void *updater(void *arg) {
	for (int i = 0; i < 20; i++) {
		struct conf *n = malloc(sizeof *n);
		n->a = n->b = i;
		struct conf *old = conf;
		conf = n;
		free(old);
		for (volatile int k = 0; k < 200; k++)
			;
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	conf = calloc(1, sizeof *conf);
	pthread_create(&a, NULL, reader, NULL);
	pthread_create(&b, NULL, updater, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts("done");
	return 0;
}
