// Signals that tell that a descriptor is ready.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int got, code, fd;
static volatile long band;
static void on(int s, siginfo_t *si, void *u) {
	got = s;
	code = si->si_code;
	band = si->si_band;
	fd = si->si_fd;
}

static void show(const char *what, int own) {
	for (int i = 0; i < 1000 && !got; i++) usleep(1000);
	printf("%s: %s", what, got == SIGIO ? "SIGIO" : got ? "real-time" : "none");
	if (got && code == SI_KERNEL) printf(" from the kernel");
	else if (got) printf(" code %d band %lx own %d", code, band & ~4L, fd == own);
	printf("\n");
	got = 0;
}

int main(void) {
	setpgid(0, 0); // whoever runs this must not get the group's signals
	struct sigaction a = {.sa_sigaction = on, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigaction(SIGIO, &a, 0);
	sigaction(SIGRTMIN + 3, &a, 0);
	int p[2], s[2];
	char b[100];
	if (pipe(p) || socketpair(AF_UNIX, SOCK_STREAM, 0, s)) return 1;
	printf("owner %d", fcntl(p[0], F_GETOWN));
	fcntl(p[0], F_SETOWN, getpid());
	printf(" %d signal %d\n", fcntl(p[0], F_GETOWN) == getpid(), fcntl(p[0], F_GETSIG));
	fcntl(p[0], F_SETFL, O_ASYNC | O_NONBLOCK);
	printf("flags %d\n", (fcntl(p[0], F_GETFL) & (O_ASYNC | O_NONBLOCK)) == (O_ASYNC | O_NONBLOCK));
	write(p[1], "x", 1);
	show("pipe", p[0]);
	write(p[1], "x", 1); // more of it
	show("pipe again", p[0]);
	printf("read %ld %ld\n", (long)read(p[0], b, 100), (long)read(p[0], b, 100));
	fcntl(p[0], F_SETSIG, SIGRTMIN + 3);
	printf("signal %d bad %d\n", fcntl(p[0], F_GETSIG) == SIGRTMIN + 3, fcntl(p[0], F_SETSIG, 99));
	write(p[1], "x", 1);
	show("pipe with signal", p[0]);
	read(p[0], b, 100);
	fcntl(p[0], F_SETFL, 0);
	write(p[1], "x", 1);
	usleep(20000);
	printf("off %d\n", got);

	int one = 1, zero = 0;
	fcntl(s[0], F_SETOWN, getpid());
	fcntl(s[0], F_SETSIG, SIGRTMIN + 3);
	ioctl(s[0], FIOASYNC, &one);
	fflush(stdout);
	pid_t c = fork();
	if (!c) {
		usleep(20000);
		write(s[1], "hello", 5);
		_exit(0);
	}
	show("socket", s[0]);
	waitpid(c, 0, 0);
	read(s[0], b, 100);
	ioctl(s[0], FIOASYNC, &zero);
	write(s[1], "x", 1);
	usleep(20000);
	printf("off %d\n", got);

	// A group owns it; the child, of the same group, gets it, too.
	struct f_owner_ex ex = {F_OWNER_PGRP, getpgrp()};
	printf("group %d\n", fcntl(p[0], F_SETOWN_EX, &ex));
	read(p[0], b, 100);
	if (!(c = fork())) {
		for (int i = 0; i < 3000 && !got; i++) usleep(1000);
		_exit(got != 0);
	}
	usleep(50000);
	fcntl(p[0], F_SETSIG, 0);
	fcntl(p[0], F_SETFL, O_ASYNC);
	write(p[1], "x", 1);
	show("group", p[0]);
	int st;
	waitpid(c, &st, 0);
	printf("child %d\n", WEXITSTATUS(st));
}
