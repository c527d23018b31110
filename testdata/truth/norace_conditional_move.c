// verdict: none
// flags: -O2
// The program reads the value only when it may, but the compiler makes a
// conditional move of it, which always loads.
#include <pthread.h>
#include <stdio.h>

static int value, out;

__attribute__((noinline)) static int look(int ready) {
	return ready ? value : 0;
}

static void *reader(void *arg) {
	for (int i = 0; i < 50; i++)
		out += look(arg != NULL);
	return NULL;
}

int main(void) {
	pthread_t t;
	pthread_create(&t, NULL, reader, NULL);
	for (int i = 0; i < 50; i++)
		*(volatile int *)&value = i;
	pthread_join(t, NULL);
	printf("%d\n", out + look(value == 49));
	return 0;
}
