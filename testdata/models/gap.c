// verbose is never set in the recording: what load reads then, it doesn't have
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int verbose;
static char name[16];
static int lines, null;

static __attribute__((noinline)) void load(void) {
	lines++;
	if (verbose) {
		int n = read(null, name, sizeof name - 1);
		name[n < 0 ? 0 : n] = 0;
	}
}

static void *worker(void *arg) {
	for (int i = 0; i < 30; i++)
		load();
	return NULL;
}

static void *control(void *arg) {
	for (volatile int k = 0; k < 4000; k++)
		;
	verbose = 0;
	return NULL;
}

int main(void) {
	pthread_t a, b;
	null = open("/dev/null", O_RDONLY);
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, control, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts(name[0] ? "named" : "none");
	return 0;
}
