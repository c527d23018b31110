// The kernel, the C library and other threads write into blocks as well.
// findings: none
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static volatile int hits;
static void handler(int s, siginfo_t *i, void *u) { hits += i->si_signo; }

static void *fill(void *p) {
	memset(p, 9, 256);
	return NULL;
}

int main(void) {
	int fd[2];
	if (pipe(fd))
		return 1;
	char *buf = malloc(64), *copy = malloc(64);
	if (write(fd[1], "0123456789012345678901234567890123456789", 40) != 40 || read(fd[0], buf, 64) != 40)
		return 1;
	memcpy(copy, buf, 40);
	int digits = 0;
	for (int i = 0; i < 40; i++)
		digits += copy[i] - '0';
	struct stat *st = malloc(sizeof *st);
	if (fstat(0, st) == 0 && st->st_mode == 0)
		return 1;
	struct timespec *ts = malloc(sizeof *ts);
	clock_gettime(CLOCK_MONOTONIC, ts);
	if (ts->tv_sec < 0)
		return 1;
	if (write(fd[1], "abcdefgh", 8) != 8)
		return 1;
	struct pollfd *p = malloc(sizeof *p);
	p->fd = fd[0];
	p->events = POLLIN;
	if (poll(p, 1, 0) != 1 || !(p->revents & POLLIN))
		return 1;
	struct iovec *v = malloc(2 * sizeof *v);
	v[0].iov_base = malloc(4);
	v[1].iov_base = malloc(4);
	v[0].iov_len = v[1].iov_len = 4;
	if (readv(fd[0], v, 2) != 8 || ((char *)v[1].iov_base)[3] != 'h')
		return 1;
	pthread_t t;
	char *shared = malloc(256);
	pthread_create(&t, NULL, fill, shared);
	pthread_join(t, NULL);
	if (shared[255] != 9)
		return 1;
	stack_t ss = {.ss_sp = malloc(SIGSTKSZ), .ss_size = SIGSTKSZ};
	sigaltstack(&ss, NULL);
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	printf("%d %d\n", digits, hits);
	ss.ss_flags = SS_DISABLE;
	sigaltstack(&ss, NULL);
	free(ss.ss_sp);
	free(shared);
	free(v[0].iov_base);
	free(v[1].iov_base);
	free(v);
	free(p);
	free(ts);
	free(st);
	free(copy);
	free(buf);
	return 0;
}
