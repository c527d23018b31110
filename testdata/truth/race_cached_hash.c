// verdict: benign
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text = "a string whose hash is computed once";
static volatile unsigned cached;
static unsigned out[2];

static unsigned hash(void) {
	unsigned h = cached;
	if (h == 0) {
		h = 17;
		for (const char *p = text; *p; p++)
			h = h * 31 + (unsigned char)*p;
		cached = h;
	}
	return h;
}

static void *user(void *arg) {
	for (int i = 0; i < 50; i++)
		out[(long)arg] += hash();
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, user, (void *)0);
	pthread_create(&b, NULL, user, (void *)1);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", out[0] == out[1]);
	return 0;
}
