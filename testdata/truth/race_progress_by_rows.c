// verdict: benign
// flags: -O1
// a counter of what is done goes up within a function; who looks sees how far
// it is
#include <pthread.h>
#include <stdio.h>

static volatile long done;
static int cells[30][30];
long shown;

static __attribute__((noinline)) void row(int r) {
	for (int c = 0; c < 30; c++) {
		cells[r][c] = r * c;
		done++;
	}
}

static void *worker(void *arg) {
	for (int r = 0; r < 30; r++)
		row(r);
	return NULL;
}

static __attribute__((noinline)) void look(void) {
	shown = done;
}

static void *monitor(void *arg) {
	for (int i = 0; i < 40; i++) {
		look();
		for (volatile int k = 0; k < 60; k++)
			;
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, monitor, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts(done == 900 ? "done" : "not done");
	return 0;
}
