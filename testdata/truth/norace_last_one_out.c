// verdict: none
// flags: -O1
// Threads count themselves under a lock, and who finds that it is the last one
// reads what all others did: its look at the counter decides.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done, part[4], sum;

static void *work(void *arg) {
	int id = (int)(long)arg;
	part[id] = id + 1;
	pthread_mutex_lock(&lock);
	done++;
	int last = done == 4;
	pthread_mutex_unlock(&lock);
	if (last)
		for (int i = 0; i < 4; i++)
			sum += part[i];
	return NULL;
}

int main(void) {
	pthread_t t[4];
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	printf("%d\n", sum);
	return 0;
}
