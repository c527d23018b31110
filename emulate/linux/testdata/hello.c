// What a program finds when it starts: arguments, environment, auxiliary vector.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

static __thread int tls = 7;

int main(int argc, char **argv) {
	for (int i = 1; i < argc; i++) printf("arg %d: %s\n", i, argv[i]);
	printf("env %s\n", getenv("GUEST") ? getenv("GUEST") : "none");
	printf("page %lu secure %lu clktck %lu uid %d\n", getauxval(AT_PAGESZ), getauxval(AT_SECURE),
	       getauxval(AT_CLKTCK), getauxval(AT_UID) == getuid());
	printf("platform %s random %d phdr %d\n", (char *)getauxval(AT_PLATFORM), getauxval(AT_RANDOM) != 0,
	       getauxval(AT_PHDR) != 0);
	int x;
	printf("stack aligned %d tls %d\n", ((uintptr_t)__builtin_frame_address(0) & 15) == 0, tls);
	struct rlimit r;
	getrlimit(RLIMIT_STACK, &r);
	printf("stack limit %lu\n", (unsigned long)r.rlim_cur);
	long double l = 1;
	for (int i = 1; i < 30; i++) l *= i + 0.5L;
	printf("%.21Lg %La %.17g %f\n", l, l, sqrt(2), exp(1.5) + sin(3));
	char *big = malloc(1 << 20), *small = malloc(100);
	memset(big, 'x', 1 << 20);
	printf("%zu %d\n", strnlen(big, 1 << 20), small != 0);
	char deep[1 << 20];
	memset(deep, 1, sizeof deep);
	printf("%d\n", deep[x = argc]);
	free(big);
	free(small);
	return 42;
}
