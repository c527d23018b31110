// verdict: synchronisation
// flags: -O2
// how often a thread ran before it was told to stop decides what main prints,
// but it looks at the flag again and again
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int quit;
static int beats;

static void *heart(void *arg) {
	while (!quit) {
		beats++;
		usleep(100);
	}
	return NULL;
}

int main(void) {
	pthread_t a;
	pthread_create(&a, NULL, heart, NULL);
	usleep(2000);
	quit = 1;
	pthread_join(a, NULL);
	puts(beats > 0 ? "alive" : "dead");
	return 0;
}
