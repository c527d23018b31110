// verdict: harmful
// flags: -O1
// the reader may have looked before there was anything to see
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node { int key, value; struct node *next; };
static struct node *volatile head;
static volatile int errors;

static void *writer(void *arg) {
	for (int i = 0; i < 30; i++) {
		struct node *n = calloc(1, sizeof *n);
		n->next = head;
		head = n;
		n->value = 2 * (i + 1);
		n->key = i + 1;
	}
	return NULL;
}

static void *reader(void *arg) {
	for (int i = 0; i < 200; i++) {
		struct node *n = head;
		if (n && n->value != 2 * n->key)
			errors++;
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts("end");
	return 0;
}
