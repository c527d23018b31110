// Resource limits that are kept to.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int got;
static void on(int s) { got++; }

int main(void) {
	char buf[8192] = "", name[] = "/tmp/racesim-limits-XXXXXX";
	struct rlimit l = {10000, 20000};
	setrlimit(RLIMIT_FSIZE, &l);
	signal(SIGXFSZ, on);
	int fd = mkstemp(name);
	unlink(name);
	int n = write(fd, buf, 8192), m = write(fd, buf, 8192);
	printf("wrote %d %d signals %d\n", n, m, got);
	n = write(fd, buf, 1);
	printf("then %d %d signals %d\n", n, errno == EFBIG, got);
	n = ftruncate(fd, 10001);
	printf("ftruncate %d %d signals %d, less %d\n", n, errno == EFBIG, got, ftruncate(fd, 5000));
	n = pwrite(fd, buf, 100, 9950);
	printf("pwrite %d", n);
	n = pwrite(fd, buf, 100, 12000);
	printf(" %d signals %d\n", n, got);
	l.rlim_max = 30000;
	getrlimit(RLIMIT_FSIZE, &l);
	printf("limits %ld %ld\n", (long)l.rlim_cur, (long)l.rlim_max);

	struct rlimit as = {300 << 20, 300 << 20};
	setrlimit(RLIMIT_AS, &as);
	void *p = mmap(0, 200 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *q = mmap(0, 200 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("mmap %d %d %d\n", p != MAP_FAILED, q != MAP_FAILED, errno == ENOMEM);
	printf("mremap %d\n", mremap(p, 200 << 20, 400 << 20, 1 /* MREMAP_MAYMOVE */) == MAP_FAILED);
	printf("brk %d malloc %d\n", sbrk(200 << 20) == (void *)-1, malloc(200 << 20) == 0);
	munmap(p, 200 << 20);
	printf("again %d\n", mmap(0, 200 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	fflush(stdout);
	pid_t c = fork();
	if (!c) {
		getrlimit(RLIMIT_AS, &as);
		signal(SIGXFSZ, SIG_DFL);
		printf("inherited %ld\n", (long)as.rlim_cur);
		fflush(stdout);
		pwrite(fd, buf, 1, 50000);
		_exit(0);
	}
	int st;
	waitpid(c, &st, 0);
	printf("killed %d\n", WIFSIGNALED(st) && WTERMSIG(st) == SIGXFSZ);
}
