// verdict: synchronisation
// flags: -O1
// main looks at a flag, and waits for input in between, until a worker is done;
// then it ends the program
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <unistd.h>

static volatile int stop;
static int fds[2];
static char *log_text;

static void *worker(void *arg) {
	for (volatile int k = 0; k < 3000; k++)
		;
	write(fds[1], "x", 1);
	for (volatile int k = 0; k < 2000; k++)
		;
	stop = 1;
	return NULL;
}

int main(void) {
	pthread_t t;
	int looks = 0;
	pipe(fds);
	log_text = malloc(64);
	pthread_create(&t, NULL, worker, NULL);
	for (;;) {
		if (stop) {
			free(log_text);
			exit(0);
		}
		fd_set set;
		struct timespec wait = {0, 20000};
		FD_ZERO(&set);
		FD_SET(fds[0], &set);
		if (pselect(fds[0] + 1, &set, NULL, NULL, &wait, NULL) > 0) {
			char c;
			read(fds[0], &c, 1);
		}
		snprintf(log_text, 64, "%d looks", ++looks);
	}
}
