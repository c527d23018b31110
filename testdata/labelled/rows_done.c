// verdict: benign
// rows are counted for a progress bar; one that isn't counted makes it a little shorter
#include "threads.h"

static volatile int rows_done;
static long image[2];

static void *render(void *arg) {
	for (int row = 0; row < 60; row++) {
		for (int x = 0; x < 16; x++) image[(long)arg] += row * x;
		rows_done++;
	}
	return 0;
}

static void *bar(void *arg) {
	char text[32];
	for (int i = 0; i < 4; i++) {
		int n = snprintf(text, sizeof text, "\r%3d %%", rows_done * 100 / 120);
		if (write(2, text, n) < 0) return 0;
		usleep(20);
	}
	return 0;
}

int main(void) {
	pthread_t t[3];
	pthread_create(&t[0], 0, render, (void *)0);
	pthread_create(&t[1], 0, render, (void *)1);
	pthread_create(&t[2], 0, bar, 0);
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	printf("%ld\n", image[0] + image[1]);
	return 0;
}
