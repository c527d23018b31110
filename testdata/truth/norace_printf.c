// verdict: none
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *say(void *arg) {
	char line[64];
	for (int i = 0; i < 30; i++) {
		snprintf(line, sizeof line, "%s %d\n", (char *)arg, i);
		FILE *f = fopen("/dev/null", "w");
		fputs(line, f);
		fclose(f);
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, say, "one");
	pthread_create(&b, NULL, say, "two");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts("done");
	return 0;
}
