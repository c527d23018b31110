// verdict: none
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static int table[8];
static long seen;

static void *writer(void *arg) {
	for (int i = 0; i < 300; i++) {
		pthread_rwlock_wrlock(&rw);
		table[i % 8] = i;
		pthread_rwlock_unlock(&rw);
	}
	return NULL;
}

static void *reader(void *arg) {
	long s = 0;
	for (int i = 0; i < 300; i++) {
		pthread_rwlock_rdlock(&rw);
		s += table[i % 8];
		pthread_rwlock_unlock(&rw);
	}
	seen = s;
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", seen >= 0);
	return 0;
}
