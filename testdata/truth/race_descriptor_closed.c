// verdict: harmful
// flags: -O1
// One thread closes the log while another still writes to it. What is opened
// next has its number.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int logfd;

static void *writer(void *arg) {
	for (int i = 0; i < 10; i++) {
		if (write(logfd, "tick\n", 5) != 5)
			break;
	}
	return NULL;
}

int main(void) {
	pthread_t t;
	logfd = open("/dev/null", O_WRONLY);
	pthread_create(&t, NULL, writer, NULL);
	usleep(1000);
	close(logfd);
	pthread_join(t, NULL);
	printf("closed\n");
	return 0;
}
