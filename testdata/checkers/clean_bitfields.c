// Setting bit-fields reads their neighbours, copying a structure its padding
// and members that aren't set: neither matters.
// findings: none
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct flags { unsigned kind : 3, big : 1, level : 12; };
struct mixed { char c; long n; short s; union { double d; int i; } u; long unset; };

int main(void) {
	int sum = 0;
	for (int i = 0; i < 50; i++) {
		struct flags *f = malloc(sizeof *f);
		f->kind = i % 8;
		f->big = i & 1;
		f->level = i * 3;
		if (f->big)
			sum += f->level + f->kind;
		free(f);
	}
	struct mixed *a = malloc(4 * sizeof *a), *b = malloc(4 * sizeof *b);
	for (int i = 0; i < 4; i++) {
		a[i].c = i;
		a[i].n = i;
		a[i].s = i;
		a[i].u.i = i;
	}
	for (int i = 0; i < 4; i++) {
		b[i] = a[i];
		sum += b[i].n + b[i].u.i;
	}
	free(a);
	free(b);
	printf("%d\n", sum);
	return 0;
}
