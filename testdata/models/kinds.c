// Functions with results of several kinds, for what models say of instances
// that they haven't seen.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node { struct node *next; int key; };
static struct node *head;
static long length, popped;
static double average;
static unsigned state = 17;

__attribute__((noinline)) static unsigned draw(void)
{
	state = state * 1103515245u + 12345u;
	return state >> 16 & 0x7fff;
}

__attribute__((noinline)) static int classify(unsigned v)
{
	return v < 300 ? -1 : v < 20000 ? 0 : 1;
}

__attribute__((noinline)) static void push(int key)
{
	struct node *n = malloc(sizeof *n);
	n->key = key;
	n->next = head;
	head = n;
	length++;
}

__attribute__((noinline)) static int pop(void)
{
	struct node *n = head;
	if (!n)
		return -1;
	int key = n->key;
	head = n->next;
	length--;
	popped++;
	free(n);
	return key;
}

__attribute__((noinline)) static double mean(double v)
{
	return average = average * 0.9 + v * 0.1;
}

static void *other(void *arg) { return arg; }

int main(void)
{
	pthread_t t;
	long sum = 0;
	pthread_create(&t, NULL, other, NULL);
	pthread_join(t, NULL);
	for (int i = 0; i < 400; i++) {
		unsigned v = draw();
		if (classify(v) >= 0)
			push(v % 50);
		if (draw() & 1)
			sum += pop();
		mean(v);
	}
	printf("%ld %ld %d\n", sum, length, average > 0);
	return 0;
}
