// Two threads make system calls: small reads and writes of files and a pipe,
// status, seeking, mapping.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N = 6000 };

static void *run(void *arg)
{
	int fd = memfd_create("calls", 0), p[2];
	char b[256] = {0};
	long sum = 0;
	if (fd < 0 || pipe(p))
		exit(1);
	for (int i = 0; i < N; i++) {
		struct stat st;
		if (pwrite(fd, b, sizeof b, i % 64 * 256) < 0 || pread(fd, b, sizeof b, i % 32 * 256) < 0)
			exit(1);
		b[i % 256]++;
		if (write(p[1], b, 64) != 64 || read(p[0], b, 64) != 64)
			exit(1);
		fstat(fd, &st);
		sum += st.st_size + lseek(fd, 0, SEEK_CUR) + getppid() % 1;
		if (i % 16 == 0) {
			char *m = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			m[i % 65536] = 1;
			sum += m[i % 65536];
			munmap(m, 65536);
		}
	}
	close(fd);
	*(long *)arg = sum;
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	long sum[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, run, &sum[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", sum[0] + sum[1]);
	return 0;
}
