// Two threads and a pipe, poll, readv into memory that was read before.
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int fd[2];

static void *writer(void *arg) {
	char buf[1000];
	for (int i = 0; i < 200; i++) {
		memset(buf, i, sizeof buf);
		for (size_t n = 0; n < sizeof buf;) {
			ssize_t k = write(fd[1], buf + n, sizeof buf - n);
			if (k < 0)
				return 0;
			n += k;
		}
	}
	close(fd[1]);
	return 0;
}

int main(void) {
	pipe(fd);
	pthread_t t;
	pthread_create(&t, 0, writer, 0);
	char buf[700];
	unsigned long sum = 0, total = 0;
	for (;;) {
		struct pollfd p = {fd[0], POLLIN, 0};
		poll(&p, 1, -1);
		struct iovec v[2] = {{buf, 300}, {buf + 300, 400}};
		ssize_t n = readv(fd[0], v, 2);
		if (n <= 0)
			break;
		total += n;
		for (ssize_t i = 0; i < n; i++)
			sum = sum * 31 + (unsigned char)buf[i];
	}
	pthread_join(t, 0);
	printf("%lu %lu\n", total, sum);
	return 0;
}
