// Record locks and flock between processes and open file descriptions.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int lock(int fd, int cmd, int type, long start, long len) {
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};
	return fcntl(fd, cmd, &l) ? -errno : 0;
}

static void test(int fd, int cmd, int type, long start, long len, int parent) {
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};
	int r = fcntl(fd, cmd, &l) ? -errno : 0;
	if (l.l_type == F_UNLCK) printf("  free %d\n", r);
	else printf("  type %d start %ld len %ld whose %d result %d\n", l.l_type, (long)l.l_start, (long)l.l_len,
	            l.l_pid == parent ? 1 : l.l_pid == -1 ? -1 : 2, r);
}

static void child(void (*f)(int, int), int fd) {
	int parent = getpid();
	fflush(stdout);
	pid_t p = fork();
	if (!p) {
		f(fd, parent);
		fflush(stdout);
		_exit(0);
	}
	int st;
	waitpid(p, &st, 0);
	printf("  child ended %d\n", st);
}

static void tries(int fd, int parent) {
	test(fd, F_GETLK, F_WRLCK, 0, 0, parent);
	test(fd, F_GETLK, F_RDLCK, 0, 0, parent);
	test(fd, F_GETLK, F_WRLCK, 35, 3, parent);
	test(fd, F_GETLK, F_RDLCK, 60, 10, parent);
	printf("  write 15: %d", lock(fd, F_SETLK, F_WRLCK, 15, 1));
	printf(" read 15: %d", lock(fd, F_SETLK, F_RDLCK, 15, 1));
	printf(" read 55: %d", lock(fd, F_SETLK, F_RDLCK, 55, 1));
	printf(" write 55: %d\n", lock(fd, F_SETLK, F_WRLCK, 55, 1));
}

static long *shared;
static char path[100];

// Counts under a lock, with a gap in the middle of which others could come.
static void counts(int fd) {
	for (int i = 0; i < 50; i++) {
		if (lock(fd, F_SETLKW, F_WRLCK, 7, 1)) abort();
		long v = shared[0];
		for (volatile int k = 0; k < 2000; k++);
		shared[0] = v + 1;
		if (lock(fd, F_SETLK, F_UNLCK, 7, 1)) abort();
	}
}

static void countsFlock(int unused) {
	int fd = open(path, O_RDWR);
	for (int i = 0; i < 50; i++) {
		if (flock(fd, LOCK_EX)) abort();
		long v = shared[1];
		for (volatile int k = 0; k < 2000; k++);
		shared[1] = v + 1;
		if (flock(fd, LOCK_UN)) abort();
	}
}

static void countsOFD(int unused) {
	int fd = open(path, O_RDWR);
	for (int i = 0; i < 50; i++) {
		if (lock(fd, F_OFD_SETLKW, F_WRLCK, 9, 1)) abort();
		long v = shared[2];
		for (volatile int k = 0; k < 2000; k++);
		shared[2] = v + 1;
		if (lock(fd, F_OFD_SETLK, F_UNLCK, 9, 1)) abort();
	}
}

static void many(void (*f)(int), int fd) {
	pid_t p[4];
	for (int i = 0; i < 4; i++)
		if (!(p[i] = fork())) {
			f(fd);
			_exit(0);
		}
	for (int i = 0; i < 4; i++) waitpid(p[i], 0, 0);
}

static void otherway(int fd, int parent) {
	printf("  B %d\n", lock(fd, F_SETLK, F_WRLCK, 300, 1));
	fflush(stdout);
	shared[3] = 1;
	int r = lock(fd, F_SETLKW, F_WRLCK, 200, 1); // the parent gives it back
	printf("  got %d\n", r);
}

static void nothing(int s) {}

int main(void) {
	setvbuf(stdout, 0, _IOFBF, 1 << 14);
	strcpy(path, "/tmp/racesim-locks-XXXXXX");
	int fd = mkstemp(path);
	if (write(fd, "0123456789", 10) != 10) return 1;
	shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	printf("own %d %d\n", lock(fd, F_SETLK, F_WRLCK, 10, 30), lock(fd, F_SETLK, F_RDLCK, 50, 0));
	child(tries, fd);
	printf("a hole %d\n", lock(fd, F_SETLK, F_UNLCK, 20, 5));
	child(tries, fd);
	printf("weaker %d\n", lock(fd, F_SETLK, F_RDLCK, 10, 5));
	child(tries, fd);
	close(open(path, O_RDONLY)); // any close gives all back
	child(tries, fd);

	int ro = open(path, O_RDONLY);
	printf("modes %d %d %d\n", lock(ro, F_SETLK, F_WRLCK, 0, 1), lock(ro, F_SETLK, F_RDLCK, 0, 1), lock(fd, F_SETLK, 77, 0, 1));
	struct flock back = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -2, .l_len = -3};
	printf("backwards %d\n", fcntl(fd, F_SETLK, &back));
	back.l_start = -20;
	printf("before the start %d", fcntl(fd, F_SETLK, &back));
	printf(" %d\n", errno);
	child(tries, fd);
	lock(fd, F_SETLK, F_UNLCK, 0, 0);

	many(counts, fd);
	printf("counted %ld\n", shared[0]);
	many(countsFlock, fd);
	printf("counted %ld\n", shared[1]);
	many(countsOFD, fd);
	printf("counted %ld\n", shared[2]);

	// Two wait for each other.
	lock(fd, F_SETLK, F_WRLCK, 200, 1);
	int parent = getpid();
	fflush(stdout);
	pid_t p = fork();
	if (!p) {
		otherway(fd, parent);
		fflush(stdout);
		_exit(0);
	}
	while (!*(volatile long *)&shared[3]) usleep(1000);
	usleep(50000);
	printf("deadlock %d\n", lock(fd, F_SETLKW, F_WRLCK, 300, 1) == -EDEADLK);
	fflush(stdout);
	lock(fd, F_SETLK, F_UNLCK, 200, 1);
	waitpid(p, 0, 0);

	// A signal ends a wait.
	lock(fd, F_SETLK, F_WRLCK, 0, 0);
	fflush(stdout);
	if (!(p = fork())) {
		struct sigaction a = {.sa_handler = nothing};
		sigaction(SIGALRM, &a, 0);
		ualarm(20000, 0);
		printf("interrupted %d\n", lock(fd, F_SETLKW, F_WRLCK, 5, 1) == -EINTR);
		fflush(stdout);
		_exit(0);
	}
	waitpid(p, 0, 0);

	// flock: duplicates share it, openings don't.
	int f2 = open(path, O_RDWR), f3 = dup(fd);
	int a = flock(fd, LOCK_EX), b = flock(f3, LOCK_EX | LOCK_NB), c = flock(f2, LOCK_SH | LOCK_NB) ? errno : 0;
	printf("flock %d %d %d\n", a, b, c);
	a = flock(f3, LOCK_UN), b = flock(f2, LOCK_SH | LOCK_NB);
	printf("flock %d %d\n", a, b);
	a = lock(f2, F_OFD_SETLK, F_RDLCK, 500, 10), b = lock(fd, F_OFD_SETLK, F_WRLCK, 505, 1), c = lock(fd, F_OFD_SETLK, F_RDLCK, 505, 1);
	printf("ofd %d %d %d\n", a, b, c);
	unlink(path);
}
