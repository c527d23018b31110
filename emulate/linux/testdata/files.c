// Files and directories, in a directory of its own.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

static int cmp(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }

int main(void) {
	char dir[] = "/tmp/racesim-files-XXXXXX", buf[PATH_MAX], buf2[PATH_MAX];
	setvbuf(stdout, 0, _IONBF, 0);
	if (!mkdtemp(dir) || chdir(dir)) return 1;
	printf("cwd %d\n", getcwd(buf, sizeof buf) && !strcmp(buf, dir));
	int f = open("a", O_RDWR | O_CREAT | O_EXCL, 0640);
	printf("open %d again %d %s\n", f, open("a", O_CREAT | O_EXCL, 0600), strerror(errno));
	printf("write %zd seek %ld", write(f, "hello world", 11), (long)lseek(f, 6, SEEK_SET));
	printf(" read %zd %.5s\n", read(f, buf, 100), buf);
	struct iovec v[2] = {{"ab", 2}, {"cde", 3}};
	printf("writev %zd pread %zd", writev(f, v, 2), pread(f, buf, 100, 9));
	printf(" %.7s\n", buf);
	struct stat st;
	fstat(f, &st);
	printf("stat %ld %o\n", (long)st.st_size, st.st_mode & 0777);
	ftruncate(f, 3);
	stat("a", &st);
	printf("size %ld\n", (long)st.st_size);
	fchmod(f, 0600);
	printf("link %d symlink %d rename %d mkdir %d\n", link("a", "b"), symlink("a", "s"), rename("b", "c"), mkdir("d", 0755));
	printf("readlink %zd %.1s lstat %d %d\n", readlink("s", buf, sizeof buf), buf, lstat("s", &st), S_ISLNK(st.st_mode));
	int dfd = open("d", O_RDONLY | O_DIRECTORY);
	int g = openat(dfd, "inner", O_WRONLY | O_CREAT, 0600);
	printf("openat %d fstatat %d access %d %d\n", g > 0, fstatat(dfd, "inner", &st, 0), access("d/inner", R_OK), access("nope", F_OK));
	struct timespec ts[2] = {{1000, 5}, {2000, 7}};
	utimensat(dfd, "inner", ts, 0);
	stat("d/inner", &st);
	printf("mtime %ld %ld\n", (long)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec);
	lseek(f, 0, SEEK_SET);
	printf("sendfile %zd\n", sendfile(g, f, 0, 100));
	off_t off = 1;
	printf("copy %zd %ld\n", copy_file_range(f, &off, g, 0, 2, 0), (long)off);
	struct dirent *e;
	char *names[20];
	int n = 0;
	DIR *d = opendir(".");
	while ((e = readdir(d))) names[n++] = strdup(e->d_name);
	closedir(d);
	qsort(names, n, sizeof *names, cmp);
	for (int i = 0; i < n; i++) printf("%s ", names[i]);
	puts("");
	struct flock lk = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};
	printf("lock %d\n", fcntl(f, F_SETLK, &lk));
	printf("cloexec %d %d\n", fcntl(f, F_GETFD), fcntl(fcntl(f, F_DUPFD_CLOEXEC, 0), F_GETFD));
	n = readlink("/proc/self/exe", buf, sizeof buf);
	buf[n > 0 ? n : 0] = 0;
	printf("exe %s\n", strrchr(buf, '/') + 1);
	snprintf(buf2, sizeof buf2, "/proc/self/fd/%d", f);
	n = readlink(buf2, buf, sizeof buf);
	buf[n > 0 ? n : 0] = 0;
	printf("fd %s\n", strrchr(buf, '/') + 1);
	int again = open(buf2, O_RDONLY);
	printf("reopen %zd\n", read(again, buf, 100));
	printf("errors %d %s", unlink("d"), strerror(errno));
	printf(" %d %s", rmdir("d"), strerror(errno));
	printf(" %zd %s", read(999, buf, 1), strerror(errno));
	printf(" %d %s\n", close(998), strerror(errno));
	struct utsname u;
	uname(&u);
	printf("uname %s %s\n", u.sysname, u.machine);
	struct rlimit rl;
	getrlimit(RLIMIT_NOFILE, &rl);
	rl.rlim_cur = 30;
	setrlimit(RLIMIT_NOFILE, &rl);
	int count = 0;
	while (dup(f) >= 0) count++;
	printf("emfile %d\n", errno == EMFILE && count > 5);
	unlinkat(dfd, "inner", 0);
	fchdir(dfd);
	chdir("..");
	printf("cleanup %d %d %d %d %d\n", unlink("a"), unlink("c"), unlink("s"), rmdir("d"), rmdir(dir));
	return 0;
}
