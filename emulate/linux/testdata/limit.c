// Asks for memory until there is none (64 MiB, the test says), in four ways; then
// touches more than there is.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv) {
	const long mb = 1 << 20;
	void *much = malloc(100 * mb);
	printf("at once %d %d\n", much == 0, errno);
	int n = 0;
	void *list[100] = {0};
	for (; n < 100 && (list[n] = malloc(mb)); n++) memset(list[n], 1, mb);
	printf("touched %d\n", n > 40 && n < 64);
	for (int i = 0; i < n; i++) free(list[i]);
	printf("again %d\n", malloc(20 * mb) != 0);
	printf("map %d\n", mmap(0, 100 * mb, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	char *p = mmap(0, 100 * mb, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("address space %d, of use %d %d\n", p != MAP_FAILED, mprotect(p, mb, PROT_READ | PROT_WRITE),
	       mprotect(p, 100 * mb, PROT_READ | PROT_WRITE));
	printf("brk %d\n", sbrk(100 * mb) == (void *)-1);
	fflush(stdout);
	p = mmap(0, 100 * mb, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	for (long i = 0; i < 100; i++) p[i * mb] = 1, memset(p + i * mb, 1, mb);
	printf("not here\n");
}
