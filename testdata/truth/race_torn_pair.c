// verdict: harmful
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct { int low, high; } range = {0, 10};
static int bad;

static void set(int n) {
	range.low = n;
	range.high = n + 10;
}

static int width(void) { return range.high - range.low; }

static void *setter(void *arg) {
	for (int i = 0; i < 2000; i++)
		set(i);
	return NULL;
}

static void *getter(void *arg) {
	for (int i = 0; i < 2000; i++)
		if (width() != 10)
			bad++;
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, setter, NULL);
	pthread_create(&b, NULL, getter, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", bad >= 0);
	return 0;
}
