// Two threads change members of blocks that malloc allocated.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct item {
	int id;
	long weight;
};

struct job {
	int state;
	struct {
		int level;
		char name[20];
	} conf;
	struct item *items;
	int n;
};

static void *need(size_t n) {
	void *p = malloc(n);
	if (!p)
		abort();
	return p;
}

static struct job *make(int n) {
	struct job *j = calloc(1, sizeof *j);
	j->items = need(n * sizeof(struct item));
	j->n = n;
	return j;
}

static int *counts;

static void *work(void *arg) {
	struct job *j = arg;
	for (int i = 0; i < 20; i++) {
		j->conf.level++;
		j->items[3].weight += i;
		counts[5]++;
	}
	return NULL;
}

int main(void) {
	struct job *j = make(8);
	counts = need(10 * sizeof(int));
	j->items[3].weight = counts[5] = 0;
	pthread_t a, b;
	pthread_create(&a, NULL, work, j);
	pthread_create(&b, NULL, work, j);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("done\n");
	free(counts);
	free(j->items);
	free(j);
	return 0;
}
