// Memory: mapping, moving, protecting, sharing.
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { P = 4096 };

int main(int argc, char **argv) {
	setvbuf(stdout, 0, _IONBF, 0);
	char *a = mmap(0, 4 * P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	strcpy(a + 3 * P, "third");
	a[0] = 'a';
	char *b = mremap(a, 4 * P, 64 * P, MREMAP_MAYMOVE);
	printf("mremap %d %c %s %d\n", b != MAP_FAILED, b[0], b + 3 * P, b[63 * P]);
	b[63 * P] = 'z';
	b = mremap(b, 64 * P, 2 * P, 0);
	printf("shrunk %c\n", b[0]);
	char *to = mmap(0, 8 * P, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *d = mremap(b, 2 * P, 3 * P, MREMAP_MAYMOVE | MREMAP_FIXED, to + P);
	printf("fixed %d %c\n", d == to + P, d[0]);
	printf("old gone %d %d\n", msync(b, P, MS_ASYNC), errno == ENOMEM);
	munmap(to + 6 * P, P);
	printf("partly unmapped %d %d\n", mprotect(to, 8 * P, PROT_READ), errno == ENOMEM);
	printf("before the hole %c\n", *(to + P));

	a = mmap(0, 4 * P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(a, 'q', 4 * P);
	madvise(a + P, 2 * P, MADV_DONTNEED);
	printf("dontneed %c%d%d%c\n", a[0], a[P], a[2 * P + 5], a[3 * P]);
	unsigned char vec[4];
	munmap(a + 2 * P, P);
	printf("mincore %d %d\n", mincore(a, 4 * P, vec), errno == ENOMEM);
	char *hole = mmap(a + 2 * P, P, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	printf("hole %d again %d %d\n", hole == a + 2 * P,
	       mmap(a + 2 * P, P, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED, errno == EEXIST);

	int fd = memfd_create("two", MFD_CLOEXEC);
	if (ftruncate(fd, 3 * P)) return 1;
	volatile int *x = mmap(0, 2 * P, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	volatile int *y = mmap(0, 2 * P, PROT_READ | PROT_WRITE, MAP_SHARED, fd, P);
	x[P / 4] = 99;
	printf("alias %d", y[0]);
	y[0] = 100;
	printf(" %d", x[P / 4]);
	int v = 101, w = 0;
	if (pwrite(fd, &v, 4, P) != 4) return 1;
	printf(" %d %d", x[P / 4], y[0]);
	y[1] = 55;
	if (pread(fd, &w, 4, P + 4) != 4) return 1;
	printf(" %d\n", w);

	char name[] = "/tmp/racesim-memory-XXXXXX";
	int f = mkstemp(name);
	if (write(f, "0123456789", 10) != 10) return 1;
	char *s = mmap(0, P, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
	char *p = mmap(0, P, PROT_READ | PROT_WRITE, MAP_PRIVATE, f, 0);
	close(f);
	p[0] = 'P';
	s[1] = 'S';
	char buf[11] = {0};
	f = open(name, O_RDONLY);
	if (read(f, buf, 10) != 10) return 1;
	printf("file %s private %.10s shared %.10s tail %d\n", buf, p, s, s[10]);
	printf("ro %d %d\n", mmap(0, P, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0) == MAP_FAILED, errno == EACCES);
	struct stat st;
	fstat(f, &st);
	printf("size %ld\n", (long)st.st_size);
	unlink(name);

	char *brk0 = sbrk(0), *brk1 = sbrk(3 * P + 5);
	brk1[3 * P] = 1;
	printf("brk %d %ld", brk0 == brk1, (long)((char *)sbrk(0) - brk0));
	sbrk(-(3 * P + 5));
	printf(" %ld\n", (long)((char *)sbrk(0) - brk0));
	printf("bad %d %d %d\n", mmap(0, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED,
	       mmap((void *)123, P, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED,
	       munmap((void *)1, P));
	printf("efault %zd %d\n", write(1, (void *)16, 5), errno == EFAULT);

	// Code made at run time, and changed.
	unsigned char *code = mmap(0, P, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 1; i <= 3; i++) {
		unsigned char body[] = {0xb8, i, 0, 0, 0, 0xc3}; // mov $i, %eax; ret
		memcpy(code, body, sizeof body);
		printf("code %d\n", ((int (*)(void))code)());
	}
	void *m[200];
	for (int i = 0; i < 200; i++) m[i] = malloc(1000 * (i % 70) + 1), memset(m[i], i, 1000 * (i % 70) + 1);
	long sum = 0;
	for (int i = 0; i < 200; i++) sum += ((unsigned char *)m[i])[1000 * (i % 70)], free(m[i]);
	printf("malloc %ld\n", sum);
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[300];
	int heap = 0, stack = 0, me = 0;
	while (fgets(line, sizeof line, maps)) {
		uintptr_t lo, hi;
		sscanf(line, "%lx-%lx", &lo, &hi);
		heap += strstr(line, "[heap]") != 0;
		stack += strstr(line, "[stack]") && (uintptr_t)&st >= lo && (uintptr_t)&st < hi;
		me += (uintptr_t)main >= lo && (uintptr_t)main < hi && strstr(line, "r-xp") != 0;
	}
	printf("maps %d %d %d\n", heap, stack, me);
	return 0;
}
