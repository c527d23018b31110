// verdict: benign
// flags: -O0
// a loop that is looked at whether it was cancelled, in each round
#include <pthread.h>
#include <stdio.h>

static volatile int cancelled;
static int squares[400];

static void *worker(void *arg) {
	for (int i = 0; i < 400 && !cancelled; i++) {
		int s = 0;
		for (int k = 0; k < 40; k++)
			s += k * i;
		squares[i] = s;
	}
	return NULL;
}

static void *control(void *arg) {
	for (volatile int i = 0; i < 2000; i++)
		;
	cancelled = 1;
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, control, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts(squares[0] == 0 ? "ended" : "wrong");
	return 0;
}
