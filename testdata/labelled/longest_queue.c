// verdict: benign
// whom to help is decided by lengths that may be old
#include "threads.h"

static struct { pthread_mutex_t mu; volatile int n; } queue[2] = {{PTHREAD_MUTEX_INITIALIZER, 150}, {PTHREAD_MUTEX_INITIALIZER, 150}};
static int done[2];

static void *work(void *arg) {
	long me = (long)arg;
	for (;;) {
		int from = queue[0].n > queue[1].n ? 0 : 1;
		for (int k = 0; k < 2; k++, from = 1 - from) {
			pthread_mutex_lock(&queue[from].mu);
			int got = queue[from].n > 0;
			if (got) queue[from].n = queue[from].n - 1;
			pthread_mutex_unlock(&queue[from].mu);
			if (got) {
				done[me]++;
				break;
			}
			if (k == 1) return 0;
		}
	}
}

int main(void) {
	threads(2, work);
	printf("%d\n", done[0] + done[1]);
	return 0;
}
