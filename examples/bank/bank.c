// A bank with two tellers and an auditor. Deposits take the lock; a fee that
// was added later doesn't. Now and then money disappears.
#include <pthread.h>
#include <stdio.h>

enum { ACCOUNTS = 8, ROUNDS = 3000 };

struct account {
	long balance;
	long fees;
};

static struct account accounts[ACCOUNTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int closing; // tells the auditor to stop; needs no lock

static void deposit(struct account *a, long amount)
{
	pthread_mutex_lock(&lock);
	a->balance += amount;
	pthread_mutex_unlock(&lock);
}

static void charge_fee(struct account *a)
{
	a->balance -= 1; // the lock is missing here
	a->fees += 1;
}

static void *teller(void *arg)
{
	long id = (long)arg;
	for (int i = 0; i < ROUNDS; i++) {
		struct account *a = &accounts[(i + id) % ACCOUNTS];
		deposit(a, 10);
		if (i % 3 == 0)
			charge_fee(a);
	}
	return NULL;
}

static void *auditor(void *arg)
{
	long looked = 0;
	while (!closing)
		looked++;
	*(long *)arg = looked;
	return NULL;
}

int main(void)
{
	pthread_t t[2], audit;
	long looked = 0, sum = 0, fees = 0;
	pthread_create(&audit, NULL, auditor, &looked);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, teller, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	closing = 1;
	pthread_join(audit, NULL);
	for (int i = 0; i < ACCOUNTS; i++) {
		sum += accounts[i].balance;
		fees += accounts[i].fees;
	}
	printf("deposited %d, balance plus fees %s\n", 2 * ROUNDS * 10, sum + fees == 2 * ROUNDS * 10 ? "agree" : "DON'T AGREE");
	return 0;
}
