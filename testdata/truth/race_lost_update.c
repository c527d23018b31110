// verdict: harmful
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long balance;

static void deposit(long n) { balance += n; }

static void *teller(void *arg) {
	for (int i = 0; i < 2000; i++)
		deposit(1);
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, teller, NULL);
	pthread_create(&b, NULL, teller, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", balance <= 4000);
	return 0;
}
