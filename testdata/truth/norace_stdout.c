// verdict: none
// flags: -O1
// The first thread that prints makes stdout's buffer; all of them fill it,
// under the stream's lock.
#include <pthread.h>
#include <stdio.h>

static void *say(void *arg) {
	for (int i = 0; i < 50; i++) {
		printf("%s\n", "the same from everyone");
		if (i % 8 == 0) fflush(stdout);
	}
	return NULL;
}

int main(void) {
	pthread_t t[3];
	for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, say, NULL);
	for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
	return 0;
}
