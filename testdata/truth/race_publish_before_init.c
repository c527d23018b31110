// verdict: harmful
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct config { int level; int limit; };
static struct config conf;
static volatile int ready;
static int bad;

static void publish(void) {
	ready = 1;
	*(volatile int *)&conf.level = 7;
	*(volatile int *)&conf.limit = 100;
}

static int use(void) {
	if (!ready)
		return -1;
	return *(volatile int *)&conf.level * *(volatile int *)&conf.limit;
}

static void *writer(void *arg) {
	for (volatile int i = 0; i < 20000; i++)
		;
	publish();
	return NULL;
}

static void *reader(void *arg) {
	for (int i = 0; i < 5000; i++) {
		int v = use();
		if (v >= 0 && v != 700)
			bad++;
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("done\n");
	return 0;
}
