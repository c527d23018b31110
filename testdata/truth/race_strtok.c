// verdict: harmful
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int words[2];

static void *split(void *arg) {
	for (int i = 0; i < 200; i++) {
		char text[] = "the quick brown fox jumps";
		for (char *w = strtok(text, " "); w; w = strtok(NULL, " "))
			words[(long)arg]++;
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, split, (void *)0);
	pthread_create(&b, NULL, split, (void *)1);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", words[0] > 0);
	return 0;
}
