// verdict: harmful
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct table { int size; int slot[14]; };
static struct table *shared;
static struct table *got[2];

static struct table *get(void) {
	if (!shared) {
		struct table *t = malloc(sizeof *t);
		t->size = 14;
		for (int i = 0; i < 14; i++)
			t->slot[i] = i;
		shared = t;
	}
	return shared;
}

static void *use(void *arg) {
	got[(long)arg] = get();
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, use, (void *)0);
	pthread_create(&b, NULL, use, (void *)1);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", got[0] && got[1]);
	return 0;
}
