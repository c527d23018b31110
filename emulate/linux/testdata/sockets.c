// Sockets within the program.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int lfd;

static void *server(void *arg) {
	struct sockaddr_in a;
	socklen_t n = sizeof a;
	int c = accept(lfd, (struct sockaddr *)&a, &n);
	char buf[200000];
	long sum = 0, k;
	while ((k = recv(c, buf, sizeof buf, 0)) > 0) {
		for (long i = 0; i < k; i++) sum += (unsigned char)buf[i];
	}
	k = snprintf(buf, sizeof buf, "sum %ld family %d", sum, a.sin_family == AF_INET);
	send(c, buf, k, MSG_NOSIGNAL);
	close(c);
	return 0;
}

int main(void) {
	pthread_t t;
	int sv[2];
	char buf[300000];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv)) return 1;
	struct iovec iov[2] = {{"abc", 3}, {"def", 3}};
	struct msghdr m = {.msg_iov = iov, .msg_iovlen = 2};
	printf("sendmsg %zd", sendmsg(sv[0], &m, 0));
	printf(" read %zd %.6s\n", read(sv[1], buf, 100), buf);
	lfd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (bind(lfd, (struct sockaddr *)&a, sizeof a) || listen(lfd, 5)) return 2;
	socklen_t n = sizeof a;
	getsockname(lfd, (struct sockaddr *)&a, &n);
	pthread_create(&t, 0, server, 0);
	int c = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(c, (struct sockaddr *)&a, sizeof a)) return 3;
	memset(buf, 7, sizeof buf);
	for (long done = 0, k; done < (long)sizeof buf; done += k)
		if ((k = send(c, buf + done, sizeof buf - done, 0)) <= 0) return 4;
	shutdown(c, SHUT_WR);
	long k, got = 0;
	while ((k = read(c, buf + got, 100)) > 0) got += k;
	printf("%.*s\n", (int)got, buf);
	pthread_join(t, 0);
	int type;
	n = sizeof type;
	getsockopt(c, SOL_SOCKET, SO_TYPE, &type, &n);
	printf("type %d\n", type == SOCK_STREAM);
	return 0;
}
