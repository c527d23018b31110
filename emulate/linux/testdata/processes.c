// Processes beyond plain forks: memory that vfork shares, programs that take
// the place of a threaded one, groups, stops, descriptors, masks.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void show(const char *what, int st) {
	printf("%s: exited %d %d, killed %d %d, stopped %d %d, continued %d\n", what, WIFEXITED(st),
		WIFEXITED(st) ? WEXITSTATUS(st) : 0, WIFSIGNALED(st), WIFSIGNALED(st) ? WTERMSIG(st) : 0,
		WIFSTOPPED(st), WIFSTOPPED(st) ? WSTOPSIG(st) : 0, WIFCONTINUED(st));
	fflush(stdout);
}

static int in_clone(void *arg) {
	*(int *)arg = 77;
	return 5;
}

static void *waits(void *arg) {
	for (;;) pause();
}

static void *execs(void *arg) {
	execl(arg ? arg : "/proc/self/exe", "renamed", "again", NULL);
	return NULL;
}

static sig_atomic_t got;
static void on(int s, siginfo_t *i, void *c) { got = i->si_code; }

int main(int argc, char **argv) {
	pid_t pid, me = getpid();
	int st, p[2];
	char b[200];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1) {
		char name[16];
		prctl(PR_GET_NAME, name);
		printf("%s %s: %d %d, fd closed %d, ignored %d, default %d\n", argv[0], name, getpid() == gettid(),
			getenv("ME") == NULL || atoi(getenv("ME")) == getpid(), fcntl(9, F_GETFD) == -1 && errno == EBADF,
			signal(SIGUSR1, SIG_DFL) == SIG_IGN, signal(SIGUSR2, SIG_DFL) == SIG_DFL);
		return 6;
	}

	// vfork and clone share memory.
	volatile int shared = 1;
	if ((pid = vfork()) == 0) {
		shared = 2;
		_exit(3);
	}
	waitpid(pid, &st, 0);
	show("vfork", st);
	printf("shared %d\n", shared);
	char *stack = malloc(1 << 16);
	pid = clone(in_clone, stack + (1 << 16), CLONE_VM | CLONE_VFORK | SIGCHLD, (void *)&shared);
	waitpid(pid, &st, 0);
	show("clone", st);
	printf("shared %d\n", shared);
	char *none[] = {"none", NULL};
	printf("spawn: %s\n", strerror(posix_spawn(&pid, "/nonexistent", NULL, NULL, none, environ)));

	// Memory that isn't copied.
	char *wiped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	wiped[0] = 9;
	printf("madvise %d\n", madvise(wiped, 4096, MADV_WIPEONFORK));
	if ((pid = fork()) == 0) _exit(wiped[0]);
	waitpid(pid, &st, 0);
	show("wiped", st);

	// Stop and go on.
	pipe(p);
	if ((pid = fork()) == 0) {
		raise(SIGSTOP);
		read(p[0], b, 1);
		_exit(8);
	}
	waitpid(pid, &st, WUNTRACED);
	show("stopped", st);
	printf("still: %d\n", waitpid(pid, &st, WNOHANG));
	kill(pid, SIGCONT);
	waitpid(pid, &st, WCONTINUED);
	show("continued", st);
	write(p[1], "x", 1);
	waitpid(pid, &st, 0);
	show("ended", st);

	// Groups.
	if ((pid = fork()) == 0) {
		setpgid(0, 0);
		if (fork() == 0) {
			pause();
			_exit(0);
		}
		pause();
		_exit(0);
	}
	setpgid(pid, pid);
	printf("group %d %d\n", getpgid(pid) == pid, getpgid(0) == me || getpgid(0) != pid);
	printf("other session %d %d\n", setpgid(pid, 1), errno == EPERM);
	kill(-pid, SIGTERM);
	waitpid(-pid, &st, 0);
	show("group", st);
	if ((pid = fork()) == 0) _exit(setsid() == getpid() && getsid(0) == getpid() && getpgrp() == getpid() ? 0 : 1);
	siginfo_t info;
	memset(&info, 0, sizeof info);
	printf("waitid %d", waitid(P_ALL, 0, &info, WEXITED | WNOWAIT));
	printf(" %d %d", info.si_pid == pid, info.si_status);
	printf(" %d\n", waitpid(pid, &st, 0) == pid);

	// A signal from a child; its mask, its file mode creation mask.
	struct sigaction sa = {.sa_sigaction = on, .sa_flags = SA_SIGINFO};
	sigaction(SIGUSR1, &sa, NULL);
	umask(022);
	if ((pid = fork()) == 0) {
		umask(0);
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	waitpid(pid, &st, 0);
	printf("signal %d, umask %o\n", got == SI_USER, umask(022));

	// The end of the parent.
	pipe(p);
	if ((pid = fork()) == 0) {
		pid_t parent = getpid();
		if (fork() == 0) {
			while (getppid() == parent) usleep(1000);
			write(p[1], "orphan", 6);
			_exit(0);
		}
		_exit(0);
	}
	waitpid(pid, &st, 0);
	close(p[1]);
	st = 0;
	for (int n; (n = read(p[0], b + st, 10)) > 0;) st += n;
	printf("from an %.*s\n", st, b);

	// clone3 for a process.
	struct { unsigned long flags, pidfd, child, parent, exit, stack, size, tls; } ca = {.exit = SIGCHLD};
	if ((pid = syscall(SYS_clone3, &ca, sizeof ca)) == 0) _exit(14);
	waitpid(pid, &st, 0);
	show("clone3", st);
	st = waitpid(-1, &st, 0x100);
	printf("bad wait %d %d\n", st, errno);

	// Another program in the place of one with threads.
	if ((pid = fork()) == 0) {
		pthread_t t;
		pthread_create(&t, NULL, waits, NULL);
		signal(SIGUSR1, SIG_IGN);
		fcntl(1, F_DUPFD_CLOEXEC, 9);
		pthread_create(&t, NULL, execs, argv[0]);
		pthread_join(t, NULL);
		_exit(1);
	}
	waitpid(pid, &st, 0);
	show("exec", st);
	sprintf(b, "%d", getpid());
	setenv("ME", b, 1);
	pthread_t t;
	pthread_create(&t, NULL, waits, NULL);
	signal(SIGUSR1, SIG_IGN);
	fcntl(1, F_DUPFD_CLOEXEC, 9);
	pthread_create(&t, NULL, execs, NULL);
	pthread_join(t, NULL);
	return 1;
}
