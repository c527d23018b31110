// verdict: harmful
// flags: -O1
// the last error of all threads in one variable
#include <pthread.h>
#include <stdio.h>

static volatile int last_error;
static int wrong[2];

static int operation(int fail) {
	last_error = fail ? 5 : 0;
	for (volatile int k = 0; k < 10; k++)
		;
	return fail ? -1 : 0;
}

static void *work(void *arg) {
	long me = (long)arg;
	for (int i = 0; i < 300; i++)
		if (operation(i & 1 ^ me) < 0 && last_error == 0)
			wrong[me]++;
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, work, (void *)0L);
	pthread_create(&b, NULL, work, (void *)1L);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts("worked");
	return 0;
}
