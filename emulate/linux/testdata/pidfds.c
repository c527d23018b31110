// pidfds, and memory of other processes.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int opened(pid_t p, int flags) { return syscall(SYS_pidfd_open, p, flags); }
static int sent(int fd, int sig, siginfo_t *si) { return syscall(SYS_pidfd_send_signal, fd, sig, si, 0) ? -errno : 0; }
static int ready(int fd, int ms) {
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n = poll(&p, 1, ms);
	return n * 100 + p.revents;
}
static int waited(int fd, int options) {
	siginfo_t si = {0};
	if (waitid(3 /* P_PIDFD */, fd, &si, options)) return -errno;
	return si.si_code * 1000 + si.si_status;
}
static volatile int usr;
static void on_usr(int s, siginfo_t *si, void *u) { usr = si->si_code * 1000 + si->si_value.sival_int; }

static char text[10000] = "the child's";
static int numbers[4];

int main(void) {
	setvbuf(stdout, 0, _IOFBF, 1 << 14);
	int pipes[2];
	if (pipe(pipes)) return 1;
	fflush(stdout);
	pid_t p = fork();
	if (!p) {
		char c;
		strcpy(text + 4090, "across a page");
		if (write(pipes[1], "r", 1) != 1) _exit(1);
		for (;;) pause();
	}
	int fd = opened(p, 0);
	printf("%d cloexec %d\n", fd >= 0, fcntl(fd, F_GETFD));
	printf("alive %d\n", ready(fd, 10));
	char c;
	if (read(pipes[0], &c, 1) != 1) return 1;
	// Its memory.
	char got[40] = "", more[40] = "";
	struct iovec l[2] = {{got, 5}, {more, 20}}, r[2] = {{text, 12}, {text + 4090, 14}};
	printf("read %ld", (long)process_vm_readv(p, l, 2, r, 2, 0));
	printf(" %s|%s|%s\n", got, more, more + 7);
	int mine[4] = {1, 2, 3, 4}, back[4] = {0};
	struct iovec l2 = {mine, sizeof mine}, r2 = {numbers, sizeof numbers}, b2 = {back, sizeof back};
	printf("wrote %ld", (long)process_vm_writev(p, &l2, 1, &r2, 1, 0));
	printf(" %d", numbers[0]);
	printf(" %ld %d %d\n", (long)process_vm_readv(p, &b2, 1, &r2, 1, 0), back[0], back[3]);
	struct iovec bad = {(void *)8, 10};
	printf("bad %ld %d", (long)process_vm_readv(p, l, 1, &bad, 1, 0), errno);
	printf(" %ld %d", (long)process_vm_readv(p, l, 1, r, 1, 7), errno);
	printf(" %ld %d\n", (long)process_vm_readv(999999, l, 1, r, 1, 0), errno);
	printf("own %ld %s\n", (long)process_vm_readv(getpid(), l, 1, r, 1, 0), got);
	// Its descriptors.
	int theirs = syscall(SYS_pidfd_getfd, fd, pipes[1], 0);
	printf("getfd %d %d\n", theirs >= 0, fcntl(theirs, F_GETFD));
	if (write(theirs, "x", 1) != 1 || read(pipes[0], &c, 1) != 1) return 1;
	printf("through it %c\n", c);
	printf("no such %ld %d\n", syscall(SYS_pidfd_getfd, fd, 777, 0), errno);
	// Signals and the end.
	printf("signal 0: %d, bad %d, not one %d\n", sent(fd, 0, 0), sent(fd, 99, 0), sent(pipes[0], 0, 0));
	printf("no wait %d\n", waited(fd, WEXITED | WNOHANG));
	printf("kill %d\n", sent(fd, SIGTERM, 0));
	printf("ready %d\n", ready(fd, 5000));
	printf("zombie %d\n", waited(fd, WEXITED | WNOWAIT));
	printf("waited %d again %d\n", waited(fd, WEXITED), waited(fd, WEXITED));
	printf("gone %d, still ready %d\n", sent(fd, SIGTERM, 0), ready(fd, 0) & ~POLLHUP);
	printf("read %ld %d\n", (long)read(fd, &c, 1), errno);
	printf("opened %d %d\n", opened(p, 0), errno);
	printf("opened %d %d", opened(0, 0), errno);
	printf(" %d %d\n", opened(getpid(), 12345), errno);
	printf("not a pidfd %d\n", waited(pipes[0], WEXITED));

	// Itself, with a value.
	struct sigaction a = {.sa_sigaction = on_usr, .sa_flags = SA_SIGINFO};
	sigaction(SIGUSR1, &a, 0);
	int self = opened(getpid(), 0);
	siginfo_t si = {.si_signo = SIGUSR1, .si_code = SI_QUEUE};
	si.si_value.sival_int = 17;
	printf("queued %d %d\n", sent(self, SIGUSR1, &si), usr);
	si.si_signo = SIGUSR2;
	printf("mismatch %d\n", sent(self, SIGUSR1, &si));
	int dir = open("/proc/self", O_RDONLY | O_DIRECTORY);
	usr = 0;
	printf("by /proc %d %d\n", sent(dir, SIGUSR1, 0), usr / 1000);

	// From clone3.
	int pf = -1;
	struct clone_args args = {.flags = CLONE_PIDFD, .pidfd = (unsigned long)&pf, .exit_signal = SIGCHLD};
	fflush(stdout);
	p = syscall(SYS_clone3, &args, sizeof args);
	if (!p) {
		usleep(20000);
		_exit(pf == -1 ? 5 : 6);
	}
	printf("clone3 %d %d alive %d\n", p > 0, fcntl(pf, F_GETFD), ready(pf, 0));
	printf("ready %d\n", ready(pf, -1));
	printf("waited %d\n", waited(pf, WEXITED));
	close(pf);

	// Nonblocking; stopped and continued.
	fflush(stdout);
	if (!(p = fork()))
		for (;;) pause();
	pf = opened(p, O_NONBLOCK);
	printf("nonblocking %d\n", waited(pf, WEXITED));
	sent(pf, SIGSTOP, 0);
	int st;
	waitpid(p, &st, WUNTRACED);
	printf("stopped %d %d ready %d\n", WIFSTOPPED(st), WSTOPSIG(st), ready(pf, 0));
	sent(pf, SIGCONT, 0);
	waitpid(p, &st, WCONTINUED);
	printf("continued %d\n", WIFCONTINUED(st));
	sent(pf, SIGKILL, 0);
	printf("ready %d\n", ready(pf, -1));
	printf("killed %d\n", waited(pf, WEXITED));
}
