// A function with inputs and outputs of several kinds.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct account { int balance; int limit; };
static struct account account[3];
static int total;
static int *log_entry;

__attribute__((noinline)) static int deposit(struct account *a, int amount)
{
	a->balance += amount;
	total += amount;
	if (log_entry)
		*log_entry = amount;
	return a->balance > a->limit;
}

static void *other(void *arg) { return arg; }

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	pthread_join(t, NULL);
	log_entry = malloc(sizeof *log_entry);
	for (int i = 0; i < 30; i++)
		deposit(&account[i % 3], 5);
	printf("%d\n", total);
	return 0;
}
