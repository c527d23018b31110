// verdict: benign
// when something happened last, by the second; who expires idle sessions doesn't mind a second more or less
#include "threads.h"

static volatile long last_activity, now;
static int expired;

static void *serve(void *arg) {
	for (int i = 0; i < 60; i++) last_activity = now;
	return 0;
}

static void *expire(void *arg) {
	for (int i = 0; i < 60; i++) {
		now = i;
		if (now - last_activity > 3600) expired++;
	}
	return 0;
}

int main(void) {
	pthread_t t[3];
	pthread_create(&t[0], 0, serve, 0);
	pthread_create(&t[1], 0, serve, 0);
	pthread_create(&t[2], 0, expire, 0);
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	printf("%d\n", expired);
	return 0;
}
