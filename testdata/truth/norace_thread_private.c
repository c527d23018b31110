// verdict: none
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static __thread int mine;
static int out[2];

static void *work(void *arg) {
	for (int i = 0; i < 500; i++)
		mine += i;
	out[(long)arg] = mine;
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, work, (void *)0);
	pthread_create(&b, NULL, work, (void *)1);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", out[0] + out[1]);
	return 0;
}
