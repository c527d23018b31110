// verdict: harmful
// the owner takes from the bottom without the lock that thieves take: the last task may be done twice
#include "threads.h"

static pthread_mutex_t thieves = PTHREAD_MUTEX_INITIALIZER;
static int tasks[80];
static volatile int top, bottom;
static int times[80];

static void run(int task) { times[task]++; }

static void *own(void *arg) {
	for (int i = 0; i < 80; i++) {
		tasks[bottom] = i;
		bottom = bottom + 1;
		if (i % 3 == 2 && bottom > top) {
			bottom = bottom - 1;
			run(tasks[bottom]);
		}
	}
	while (bottom > top) {
		bottom = bottom - 1;
		run(tasks[bottom]);
	}
	return 0;
}

static void *steal(void *arg) {
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&thieves);
		if (top < bottom) {
			int t = tasks[top];
			top = top + 1;
			run(t);
		}
		pthread_mutex_unlock(&thieves);
	}
	return 0;
}

int main(void) {
	both(own, steal);
	int wrong = 0;
	for (int i = 0; i < 80; i++) wrong += times[i] != 1;
	printf("%d tasks not done once\n", wrong);
	return 0;
}
