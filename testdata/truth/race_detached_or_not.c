// verdict: harmful
// flags: -O1
// checker: +unjoined-thread
// whoever made the thread detaches it only if it hasn't said meanwhile that it is done
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int done;
static int left;
static pthread_t helper;

static void *help(void *arg) {
	for (volatile int k = 0; k < 20000; k++)
		;
	done = 1;
	return NULL;
}

static __attribute__((noinline)) void let_go(void) {
	if (!done) {
		pthread_detach(helper);
		left = 1;
	}
}

int main(void) {
	pthread_create(&helper, NULL, help, NULL);
	let_go();
	usleep(20000);
	printf("%s\n", left > 1 ? "many" : "at most one");
	return 0;
}
