// verdict: harmful
// flags: -O1
// checker: +descriptor-leak
// two threads may both open the log; one descriptor of it is lost
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int fd = -1;

static __attribute__((noinline)) int get(void) {
	if (fd < 0)
		fd = open("/dev/null", O_RDONLY);
	return fd;
}

static void *worker(void *arg) {
	for (volatile int i = 0; i < (long)arg; i++)
		;
	get();
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, worker, (void *)10L);
	pthread_create(&b, NULL, worker, (void *)60000L);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%s\n", fd > 2 ? "open" : "closed");
	close(fd);
	return 0;
}
