// One byte too little, one turn too many, one word too early.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <malloc.h>

static char *twin(const char *s) {
	char *p = malloc(strlen(s));
	strcpy(p, s); // finding: heap-overflow
	return p;
}

int main(int argc, char **argv) {
	char *name = twin("twelve chars");
	int *square = malloc(5 * sizeof *square);
	for (int i = 0; i <= 5; i++)
		square[i] = i * i; // finding: heap-overflow
	int *last = malloc(5 * sizeof *last);
	for (int i = 0; i < 5; i++)
		last[i] = i;
	int sum = last[argc + 4]; // finding: heap-overflow
	long *back = malloc(2 * sizeof *back);
	back[0] = back[1] = 3;
	for (int i = 1; i >= -1; i--)
		sum += back[i]; // finding: heap-overflow
	// What the allocator says may be used may be used.
	char *more = malloc(21);
	memset(more, 0, malloc_usable_size(more));
	puts(sum == 12345 ? "no" : "done");
	free(more);
	free(name);
	free(last);
	free(back);
	fflush(stdout);
	_Exit(0);
}
