// Descriptors that wait: pipes, eventfd, poll, select, epoll, timerfd.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

static int p[2], q[2], ev;

static void *big(void *arg) {
	char *b = malloc(300000);
	memset(b, 'b', 300000);
	printf("wrote %zd\n", write(p[1], b, 300000));
	close(p[1]);
	free(b);
	return 0;
}

static void *echo(void *arg) {
	char c;
	while (read(q[0], &c, 1) == 1) {
		uint64_t one = c;
		if (write(ev, &one, 8) != 8) abort();
		if (c == 9) break;
	}
	return 0;
}

int main(void) {
	setvbuf(stdout, 0, _IONBF, 0);
	pthread_t t;
	char buf[5000];
	if (pipe(p) || pipe2(q, O_CLOEXEC)) return 1;
	printf("fds %d %d %d %d\n", p[0], p[1], q[0], q[1]);
	pthread_create(&t, 0, big, 0);
	long n, sum = 0;
	while ((n = read(p[0], buf, sizeof buf)) > 0) sum += n;
	pthread_join(t, 0);
	printf("read %ld\n", sum);
	close(p[0]);

	ev = eventfd(0, 0);
	pthread_create(&t, 0, echo, 0);
	uint64_t total = 0, v;
	for (char c = 1; c < 10; c++) {
		if (write(q[1], &c, 1) != 1) return 1;
		if (read(ev, &v, 8) != 8) return 1;
		total += v;
	}
	pthread_join(t, 0);
	printf("eventfd %lu\n", total);

	struct pollfd pf[3] = {{q[0], POLLIN}, {q[1], POLLOUT}, {77, POLLIN}};
	n = poll(pf, 3, 0);
	printf("poll %ld %d %d %d\n", n, pf[0].revents, pf[1].revents, pf[2].revents);
	n = poll(pf, 1, 10);
	printf("poll %ld\n", n);
	if (write(q[1], "abc", 3) != 3) return 1;
	n = poll(pf, 1, -1);
	int avail;
	ioctl(q[0], FIONREAD, &avail);
	printf("poll %ld %d avail %d\n", n, pf[0].revents, avail);
	fd_set rs, ws;
	FD_ZERO(&rs);
	FD_ZERO(&ws);
	FD_SET(q[0], &rs);
	FD_SET(q[1], &ws);
	struct timeval tv = {1, 0};
	n = select(q[1] + 1, &rs, &ws, 0, &tv);
	printf("select %ld %d %d\n", n, FD_ISSET(q[0], &rs), FD_ISSET(q[1], &ws));
	struct iovec iov[2] = {{buf, 1}, {buf + 10, 5}};
	n = readv(q[0], iov, 2);
	printf("readv %ld %c%c%c\n", n, buf[0], buf[10], buf[11]);
	fcntl(q[0], F_SETFL, fcntl(q[0], F_GETFL) | O_NONBLOCK);
	n = read(q[0], buf, 1);
	printf("nonblock %ld %s %d\n", n, strerror(errno), (fcntl(q[0], F_GETFL) & O_NONBLOCK) != 0);

	int ep = epoll_create1(0);
	struct epoll_event e = {EPOLLIN, {.u64 = 0x1122334455667788}}, out[4];
	epoll_ctl(ep, EPOLL_CTL_ADD, q[0], &e);
	printf("epoll %d\n", epoll_wait(ep, out, 4, 5));
	if (write(q[1], "z", 1) != 1) return 1;
	n = epoll_wait(ep, out, 4, -1);
	printf("epoll %ld %x %lx\n", n, out[0].events, out[0].data.u64);

	int tf = timerfd_create(CLOCK_MONOTONIC, 0);
	struct itimerspec it = {{0, 2000000}, {0, 2000000}};
	timerfd_settime(tf, 0, &it, 0);
	usleep(7000);
	n = read(tf, &v, 8);
	printf("timerfd %ld %d\n", n, v >= 3);
	it.it_interval.tv_nsec = 0;
	timerfd_settime(tf, 0, &it, 0);
	n = read(tf, &v, 8);
	printf("timerfd %ld %lu\n", n, v);

	signal(SIGPIPE, SIG_IGN);
	close(q[0]);
	n = write(q[1], "x", 1);
	printf("epipe %ld %s\n", n, strerror(errno));
	int d = dup(q[1]), d2 = dup2(1, 20), d3 = fcntl(1, F_DUPFD, 30);
	printf("dup %d %d %d\n", d, d2, d3);
	signal(SIGPIPE, SIG_DFL);
	n = write(q[1], "x", 1);
	puts("not reached");
	return 0;
}
