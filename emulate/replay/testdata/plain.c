// One thread: arguments, environment, floating point, string instructions, exit status.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv) {
	for (int i = 1; i < argc; i++)
		printf("arg %s\n", argv[i]);
	double s = 0;
	long double l = 0;
	for (int i = 1; i < 20000; i++) {
		s += sin(i) / i;
		l += sqrtl(i);
	}
	printf("%.15g %.15Lg\n", s, l);
	char *a = malloc(100000), *b = malloc(100000);
	for (int k = 0; k < 10; k++) {
		char *d = a;
		long n = 50000 + k;
		__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(k) : "memory");
		char *src = a;
		d = b;
		n = 50000;
		__asm__ volatile("rep movsb" : "+D"(d), "+S"(src), "+c"(n) : : "memory");
	}
	printf("%d %d\n", memcmp(a, b, 50000), a[50005]);
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	unsigned lo, hi;
	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	unsigned x = (unsigned)t.tv_nsec ^ lo ^ hi;
	return x == 42 ? 4 : 3;
}
