// Processes: fork, wait, pipes, signals, shared memory, other programs.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int children_died;
static void died(int s) { children_died++; }

static volatile int private_value = 1;

static void *in_thread(void *arg) {
	return (void *)(long)(private_value * 10);
}

static void status_of(const char *what, pid_t pid) {
	int st;
	pid_t got = waitpid(pid, &st, 0);
	printf("%s: %s, exited %d with %d, killed by %d\n", what, got == pid ? "waited" : "not waited",
		WIFEXITED(st), WIFEXITED(st) ? WEXITSTATUS(st) : 0, WIFSIGNALED(st) ? WTERMSIG(st) : 0);
	fflush(stdout);
}

int main(void) {
	pid_t pid, me = getpid();
	int p[2], q[2], n;
	char b[200];

	setvbuf(stdout, NULL, _IOLBF, 0);
	errno = 0;
	n = wait(NULL);
	printf("no children: %d %d\n", n, errno == ECHILD);

	if ((pid = fork()) == 0) {
		private_value = 5;
		pthread_t t;
		void *r;
		pthread_create(&t, NULL, in_thread, NULL);
		pthread_join(t, &r);
		_exit(getppid() == me && getpid() != me && (long)r == 50 ? 42 : 1);
	}
	status_of("child", pid);
	printf("private value %d\n", private_value);

	if ((pid = fork()) == 0) {
		pause();
		_exit(0);
	}
	printf("nobody yet: %d\n", waitpid(pid, NULL, WNOHANG));
	kill(pid, SIGTERM);
	status_of("killed child", pid);

	if ((pid = fork()) == 0) {
		*(volatile int *)8 = 1;
		_exit(0);
	}
	status_of("crashed child", pid);

	// A conversation through pipes.
	pipe(p);
	pipe(q);
	if ((pid = fork()) == 0) {
		close(p[1]);
		close(q[0]);
		while ((n = read(p[0], b, sizeof b)) > 0) {
			for (int i = 0; i < n; i++) b[i] ^= 0x20;
			write(q[1], b, n);
		}
		_exit(7);
	}
	close(p[0]);
	close(q[1]);
	for (int i = 0; i < 3; i++) {
		write(p[1], "Hello", 5);
		n = read(q[0], b, sizeof b);
		printf("answer %.*s\n", n, b);
	}
	close(p[1]);
	printf("end: %zd\n", read(q[0], b, sizeof b));
	close(q[0]);
	status_of("talking child", pid);

	// Shared memory with a semaphore.
	struct { sem_t ask, done; int value; } *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_init(&s->ask, 1, 0);
	sem_init(&s->done, 1, 0);
	if ((pid = fork()) == 0) {
		for (int i = 0; i < 3; i++) {
			sem_wait(&s->ask);
			s->value *= 3;
			sem_post(&s->done);
		}
		_exit(0);
	}
	s->value = 2;
	for (int i = 0; i < 3; i++) {
		sem_post(&s->ask);
		sem_wait(&s->done);
		printf("shared value %d\n", s->value++);
	}
	status_of("sharing child", pid);

	// Signals of children; a grandchild.
	signal(SIGCHLD, died);
	if ((pid = fork()) == 0) {
		children_died = 0;
		pid_t g = fork();
		if (g == 0) _exit(3);
		int st;
		waitpid(g, &st, 0);
		_exit(WEXITSTATUS(st) + children_died);
	}
	status_of("parent of a grandchild", pid);
	printf("signals %d\n", children_died);
	signal(SIGCHLD, SIG_DFL);
	siginfo_t info;
	if ((pid = fork()) == 0) _exit(9);
	memset(&info, 0, sizeof info);
	n = waitid(P_PID, pid, &info, WEXITED);
	printf("waitid %d: %d %d %d\n", n, info.si_pid == pid, info.si_code == CLD_EXITED, info.si_status);

	// Other programs.
	if ((pid = fork()) == 0) {
		execlp("echo", "echo", "from", "echo", NULL);
		_exit(127);
	}
	status_of("echo", pid);
	if ((pid = fork()) == 0) {
		execl("/nonexistent", "nonexistent", NULL);
		_exit(errno == ENOENT ? 11 : 12);
	}
	status_of("nonexistent", pid);
	printf("system %d\n", WEXITSTATUS(system("exit 5")));
	FILE *f = popen("echo one; echo two", "r");
	while (fgets(b, sizeof b, f)) printf("read %s", b);
	printf("closed %d\n", pclose(f));
	f = popen("tr a-z A-Z", "w");
	fputs("upper case\n", f);
	printf("closed %d\n", pclose(f));
	char *argv[] = {"sh", "-c", "cat; exit 4", NULL};
	posix_spawn_file_actions_t fa;
	posix_spawn_file_actions_init(&fa);
	pipe(p);
	posix_spawn_file_actions_adddup2(&fa, p[0], 0);
	posix_spawn_file_actions_addclose(&fa, p[1]);
	extern char **environ;
	printf("spawn %d\n", posix_spawnp(&pid, "sh", &fa, NULL, argv, environ));
	close(p[0]);
	write(p[1], "through a pipe\n", 15);
	close(p[1]);
	status_of("spawned", pid);

	// What another program inherits goes on here as before.
	int timer = timerfd_create(CLOCK_MONOTONIC, 0), event = eventfd(0, 0);
	printf("program %d\n", system("exit 3") >> 8);
	struct itimerspec soon = {.it_value.tv_nsec = 1000000};
	timerfd_settime(timer, 0, &soon, NULL);
	long times = 0, value = 7;
	read(timer, &times, sizeof times);
	write(event, &value, sizeof value);
	read(event, &value, sizeof value);
	printf("timer %ld event %ld\n", times, value);
	return 0;
}
