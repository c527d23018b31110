// verdict: harmful
// flags: -O1
// checker: +use-after-close
// two threads may both find the log open, and both close it
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int log_fd = -1;

static void stop_log(void) {
	if (log_fd >= 0) {
		close(log_fd);
		log_fd = -1;
	}
}

static void *worker(void *arg) {
	for (volatile int i = 0; i < (long)arg; i++)
		;
	stop_log();
	return NULL;
}

int main(void) {
	pthread_t a, b;
	log_fd = open("/dev/null", O_WRONLY);
	pthread_create(&a, NULL, worker, (void *)10L);
	pthread_create(&b, NULL, worker, (void *)60000L);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts("done");
	return 0;
}
