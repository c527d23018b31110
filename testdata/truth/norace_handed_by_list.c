// verdict: none
// flags: -O1
// Threads hand nodes to and fro on a list of free ones. In another order they
// get other nodes, from the list or new ones, never one that is in use.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node {
	struct node *next;
	int v[6];
} *list;
static int seen;

static struct node *get(void) {
	pthread_mutex_lock(&lock);
	struct node *n = list;
	if (n)
		list = n->next;
	pthread_mutex_unlock(&lock);
	return n ? n : calloc(1, sizeof *n);
}

static void put(struct node *n) {
	pthread_mutex_lock(&lock);
	n->next = list;
	list = n;
	pthread_mutex_unlock(&lock);
}

static void use(int k) {
	for (int i = 0; i < 5; i++) {
		struct node *n = get();
		for (int j = 0; j < 6; j++)
			n->v[j] += k;
		put(n);
	}
}

static void *early(void *unused) {
	use(1);
	return unused;
}

static void *late(void *unused) {
	usleep(3000);
	use(2);
	struct node *n = get();
	seen = n->v[0] > 0;
	put(n);
	return unused;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, early, NULL);
	pthread_create(&b, NULL, late, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", seen);
	return 0;
}
