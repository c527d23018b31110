// verdict: harmful
// flags: -O1
// Only one of the threads ever allocates in the recording; what the other would
// do has to be known without its arena.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct table { int size; int slot[14]; };
static struct table *shared;
static struct table *got[2];

static struct table *get(void) {
	if (!shared) {
		char *name = malloc(8);
		strcpy(name, "table");
		name = realloc(name, 64);
		strcat(name, " of squares");
		struct table *t = calloc(1, sizeof *t);
		t->size = strlen(name);
		for (int i = 0; i < 14; i++)
			t->slot[i] = i * i;
		free(name);
		shared = t;
	}
	return shared;
}

static void *use(void *arg) {
	if (arg)
		usleep(1000);
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
