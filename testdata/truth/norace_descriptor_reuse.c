// verdict: none
// flags: -O1
// Threads open and close descriptors that get the same numbers again and again,
// and hand one on through a pipe; the log's descriptor is replaced by dup2.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int queue[2], logfd;

static void *worker(void *arg) {
	char b[4];
	for (int i = 0; i < 10; i++) {
		int f = open("/dev/zero", O_RDONLY);
		if (f < 0 || read(f, b, sizeof b) != sizeof b)
			return "read";
		int g = dup(f);
		close(f);
		if (read(g, b, sizeof b) != sizeof b)
			return "dup";
		close(g);
		write(logfd, "x", 1);
	}
	return NULL;
}

static void *closer(void *arg) {
	int f;
	while (read(queue[0], &f, sizeof f) == sizeof f) {
		write(f, "bye", 3);
		close(f);
	}
	return NULL;
}

int main(void) {
	pthread_t t[2], c;
	void *r[2];
	logfd = open("/dev/null", O_WRONLY);
	pipe(queue);
	pthread_create(&c, NULL, closer, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	int other = open("/dev/null", O_WRONLY);
	dup2(other, logfd);
	for (int i = 0; i < 3; i++) {
		int f = open("/dev/null", O_WRONLY);
		write(f, "hello", 5);
		write(queue[1], &f, sizeof f);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], &r[i]);
	close(queue[1]);
	pthread_join(c, NULL);
	close(queue[0]);
	close(logfd);
	printf("%s %s\n", r[0] ? (char *)r[0] : "ok", r[1] ? (char *)r[1] : "ok");
	return 0;
}
