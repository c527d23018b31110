// verdict: harmful
// flags: -O1
// the first call reads a file, under a lock
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static int bad;

static void *convert(void *arg) {
	time_t base = (time_t)(intptr_t)arg * 86400 * 40;
	for (int i = 0; i < 20; i++) {
		time_t t = base + i * 3600;
		struct tm *tm = gmtime(&t);
		if (tm->tm_hour != i % 24)
			bad++;
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, convert, (void *)1);
	pthread_create(&b, NULL, convert, (void *)20);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts("converted");
	return 0;
}
