// What /proc says of the process, its threads, and its child.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char buf[1 << 16];
static char *file(const char *name) {
	int fd = open(name, O_RDONLY);
	if (fd < 0) return strcpy(buf, "none");
	int n = 0, k;
	while ((k = read(fd, buf + n, sizeof buf - 1 - n)) > 0) n += k;
	buf[n] = 0;
	close(fd);
	return buf;
}
static char *path(const char *fmt, int pid) {
	static char p[100];
	snprintf(p, sizeof p, fmt, pid);
	return p;
}
static long field(const char *text, const char *name) {
	const char *p = strstr(text, name);
	return p ? strtol(p + strlen(name), 0, 10) : -1;
}
static int count(const char *dir, int show) {
	DIR *d = opendir(dir);
	int n = 0;
	if (!d) return -errno;
	for (struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] != '.') {
			n++;
			if (show && atoi(e->d_name) != dirfd(d)) printf(" %s:%d", e->d_name, e->d_type);
		}
	rewinddir(d);
	int m = 0;
	while (readdir(d)) m++;
	if (m != n + 2) printf(" %d and then %d!", n, m);
	closedir(d);
	return n;
}
static pthread_barrier_t b;
static int helper;
static void *thread(void *a) {
	helper = gettid();
	pthread_setname_np(pthread_self(), "helper");
	pthread_barrier_wait(&b);
	char me[100], line[100];
	snprintf(me, sizeof me, "/proc/self/task/%d/comm", (int)gettid());
	printf("comm %s", file(me));
	snprintf(me, sizeof me, "/proc/thread-self/status");
	char *s = file(me);
	printf("own status %d %d\n", field(s, "\nPid:\t") == gettid(), field(s, "\nTgid:\t") == getpid());
	pthread_barrier_wait(&b);
	return 0;
}

int main(int argc, char **argv) {
	close_range(3, ~0u, 0); // what the test inherited
	setvbuf(stdout, 0, _IOFBF, 1 << 15);
	char link[4096];
	int n = readlink("/proc/self", link, sizeof link);
	printf("self %d\n", atoi(link) == getpid());
	n = readlink("/proc/self/exe", link, sizeof link - 1);
	link[n] = 0;
	printf("exe %d by number %d\n", !strcmp(link, argv[0]), readlink(path("/proc/%d/exe", getpid()), buf, 4096) == n);
	printf("cmdline %s %s", strrchr(file("/proc/self/cmdline"), '/') ? "ok" : "no", buf + strlen(buf) + 1);
	printf(" environ %d\n", strlen(file("/proc/self/environ")) > 0);
	unsigned long *aux = (unsigned long *)file("/proc/self/auxv");
	int pagesz = 0;
	for (; *aux; aux += 2) if (*aux == 6) pagesz = aux[1];
	printf("auxv %d\n", pagesz);

	// Descriptors.
	int p[2], sv;
	if (pipe(p)) return 1;
	sv = syscall(SYS_eventfd2, 0, O_NONBLOCK);
	int f = open(argv[0], O_RDONLY | O_CLOEXEC);
	printf("fds");
	printf(" number %d\n", count("/proc/self/fd", 1));
	printf("by /dev/fd %d, fdinfo %d\n", count("/dev/fd", 0), count("/proc/self/fdinfo", 0));
	n = readlink(path("/proc/self/fd/%d", f), link, sizeof link - 1);
	link[n] = 0;
	printf("file %d", !strcmp(link, argv[0]));
	readlink(path("/proc/self/fd/%d", p[0]), link, sizeof link);
	struct stat st;
	fstat(p[0], &st);
	printf(" pipe %d %d", !strncmp(link, "pipe:[", 6), strtoul(link + 6, 0, 10) == st.st_ino);
	n = readlink(path("/proc/self/fd/%d", sv), link, sizeof link);
	printf(" %.*s\n", n, link);
	lseek(f, 100, SEEK_SET);
	char *s = file(path("/proc/self/fdinfo/%d", f));
	printf("fdinfo pos %ld flags 0%lo\n", field(s, "pos:\t"), strtol(strstr(s, "flags:\t") + 7, 0, 8));
	int d = open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
	n = readlinkat(d, path("%d", f), link, sizeof link - 1);
	link[n < 0 ? 0 : n] = 0;
	printf("relative %d %d\n", !strcmp(link, argv[0]), openat(d, path("%d", f), O_RDONLY) >= 0);
	close(d);
	printf("none %d %d\n", open("/proc/self/fd/77", O_RDONLY), errno);
	printf("again %d\n", open(path("/proc/self/fd/%d", f), O_RDONLY) > f);

	// Memory.
	char *m = mmap(0, 3 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(m + 4096, 4096, PROT_NONE);
	memset(m + 8192, 1, 1 << 20);
	char want[40];
	snprintf(want, sizeof want, "%lx-%lx ---p", (long)m + 4096, (long)m + 8192);
	printf("maps %d stack %d heap %d\n", strstr(file("/proc/self/maps"), want) != 0, strstr(buf, "[stack]") != 0, strstr(buf, "[heap]") != 0);
	s = file("/proc/self/status");
	printf("VmSize %d VmRSS %d VmData %d\n", field(s, "VmSize:") > 3072, field(s, "VmRSS:") > 1024, field(s, "VmData:") > 3000);
	long size, rss;
	sscanf(file("/proc/self/statm"), "%ld %ld", &size, &rss);
	printf("statm %d %d\n", size > 768, rss > 256 && rss < size);
	printf("smaps %d\n", strstr(file("/proc/self/smaps"), "Rss:") != 0);

	// Numbers.
	s = file("/proc/self/status");
	printf("ids %d %d %d, uid %d, state %c\n", field(s, "\nPid:\t") == getpid(), field(s, "\nTgid:\t") == getpid(), field(s, "\nPPid:\t") == getppid(),
	       field(s, "\nUid:\t") == getuid(), strstr(s, "State:\t")[7]);
	signal(SIGUSR1, SIG_IGN);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, 0);
	raise(SIGUSR2);
	s = file("/proc/self/status");
	printf("%.24s ", strstr(s, "SigPnd:"));
	printf("%.24s ", strstr(s, "SigBlk:"));
	// Who started the test may have had others ignored.
	printf("SigIgn: %d\n", (int)(strtoull(strstr(s, "SigIgn:") + 7, 0, 16) >> (SIGUSR1 - 1) & 1));
	int pid, ppid, pgrp, sid;
	char comm[30], state;
	sscanf(file("/proc/self/stat"), "%d %s %c %d %d %d", &pid, comm, &state, &ppid, &pgrp, &sid);
	printf("stat %d %s %c %d %d %d\n", pid == getpid(), comm, state, ppid == getppid(), pgrp == getpgrp(), sid == getsid(0));
	struct rlimit l = {123 << 20, 456 << 20};
	setrlimit(RLIMIT_CORE, &l);
	getrlimit(RLIMIT_CORE, &l);
	printf("limit %ld %ld\n", (long)l.rlim_cur, (long)l.rlim_max);
	printf("%.65s\n", strstr(file("/proc/self/limits"), "Max core"));

	// Threads.
	pthread_barrier_init(&b, 0, 2);
	pthread_t t;
	pthread_create(&t, 0, thread, 0);
	printf("tasks %d threads %ld\n", count("/proc/self/task", 0), field(file("/proc/self/status"), "Threads:\t"));
	fflush(stdout);
	pthread_barrier_wait(&b);
	pthread_barrier_wait(&b);
	pthread_join(t, 0);
	// It is joined a moment before it is gone.
	while (!access(path("/proc/self/task/%d", helper), F_OK))
		usleep(1000);
	printf("tasks %d\n", count(path("/proc/%d/task", getpid()), 0));

	// The child, running, stopped, ended.
	fflush(stdout);
	pid_t c = fork();
	if (!c) {
		close(p[0]);
		raise(SIGSTOP);
		for (;;) pause();
	}
	int ws;
	waitpid(c, &ws, WUNTRACED);
	s = file(path("/proc/%d/status", c));
	printf("child %d %d, state %c, threads %ld\n", field(s, "\nPid:\t") == c, field(s, "\nPPid:\t") == getpid(), strstr(s, "State:\t")[7], field(s, "Threads:\t"));
	printf("its fds %d, mine %d\n", count(path("/proc/%d/fd", c), 0), count("/proc/self/fd", 0));
	printf("there %d\n", stat(path("/proc/%d", c), &st));
	kill(c, SIGKILL);
	waitpid(c, &ws, 0);
	printf("gone %d\n", stat(path("/proc/%d/stat", c), &st));
}
