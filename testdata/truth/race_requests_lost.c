// verdict: harmful
// flags: -O1
// requests are counted up by one thread and set back by another, which loses
// those that come in between
#include <pthread.h>
#include <stdio.h>

static volatile int pending;
static int served, asked;

static void *server(void *arg) {
	for (int i = 0; i < 3000; i++) {
		if (pending) {
			int n = pending;
			for (volatile int k = 0; k < 5; k++)
				;
			pending = 0;
			served += n;
		}
	}
	return NULL;
}

static void *client(void *arg) {
	for (int i = 0; i < 100; i++) {
		pending = pending + 1;
		asked++;
		for (volatile int k = 0; k < 20; k++)
			;
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, server, NULL);
	pthread_create(&b, NULL, client, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts(served <= asked ? "served" : "more than asked");
	return 0;
}
