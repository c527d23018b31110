// Two counters in one line, and two that are apart; a third that both threads use.
// finding: false-sharing
#include <pthread.h>
#include <stdio.h>

static struct { volatile long hits, misses; } n __attribute__((aligned(64)));
static struct { volatile long hits; char gap[56]; volatile long misses; } apart __attribute__((aligned(64)));
static struct { volatile long first, second; pthread_mutex_t m; } both __attribute__((aligned(64))) = {0, 0, PTHREAD_MUTEX_INITIALIZER};

static void *hit(void *arg) {
	for (int i = 0; i < 120000; i++) {
		n.hits++;
		apart.hits++;
		if (i % 100 == 0) {
			pthread_mutex_lock(&both.m);
			both.first++;
			pthread_mutex_unlock(&both.m);
		}
	}
	return NULL;
}

static void *miss(void *arg) {
	for (int i = 0; i < 120000; i++) {
		n.misses++;
		apart.misses++;
		if (i % 100 == 0) {
			pthread_mutex_lock(&both.m);
			both.second++;
			pthread_mutex_unlock(&both.m);
		}
	}
	return NULL;
}

int main(void) {
	pthread_t t, u;
	pthread_create(&t, NULL, hit, NULL);
	pthread_create(&u, NULL, miss, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	printf("%ld\n", n.hits + n.misses);
	return 0;
}
