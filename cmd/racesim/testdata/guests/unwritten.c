// Functions that read their own memory before they wrote there.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int pick(int n) {
	volatile int x[4];
	if (n > 2)
		x[1] = n;
	return x[1] + n;
}

__attribute__((noinline)) static long block(int n) {
	volatile long *p = malloc(64);
	p[0] = n;
	long v = p[0] + p[3];
	free((void *)p);
	return v;
}

int main(void) {
	long sum = 0;
	for (int i = 0; i < 6; i++)
		sum += pick(i) + block(i);
	printf("%d\n", sum != 0);
	return 0;
}
