// verdict: harmful
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int log_buf[8192];
static int next;

static void append(int v) { log_buf[next++] = v; }

static void *logger(void *arg) {
	for (int i = 0; i < 1500; i++)
		append(i + 1);
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, logger, NULL);
	pthread_create(&b, NULL, logger, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", next <= 3000);
	return 0;
}
