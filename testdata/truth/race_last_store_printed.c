// verdict: harmful
// flags: -O1
// Which of two stores comes last decides what is printed in the end.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int owner;

static void *first(void *arg) {
	owner = 1;
	return 0;
}

static void *second(void *arg) {
	usleep(100);
	owner = 2;
	return 0;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, 0, first, 0);
	pthread_create(&b, 0, second, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	puts(owner > 0 ? "owned" : "free");
	fprintf(stderr, "%d\n", owner);
	return 0;
}
