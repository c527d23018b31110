// verdict: harmful
// flags: -O1
// Both threads count under the lock; the second then looks at the total without
// it. That the lock came to it last hides the race, as long as its increment
// has to find what the first one left: it needn't, it takes place all the same.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t ready;
static int total;

static void *first(void *unused) {
	pthread_mutex_lock(&lock);
	total++;
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *second(void *unused) {
	usleep(100000);
	pthread_mutex_lock(&lock);
	total++;
	pthread_mutex_unlock(&lock);
	sem_post(&ready);
	return unused;
}

static void *third(void *unused) {
	sem_wait(&ready);
	total = total * 2;
	return unused;
}

int main(void) {
	pthread_t t[3];
	sem_init(&ready, 0, 0);
	pthread_create(&t[0], 0, first, 0);
	pthread_create(&t[1], 0, second, 0);
	pthread_create(&t[2], 0, third, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	printf("%d\n", total);
	return 0;
}
