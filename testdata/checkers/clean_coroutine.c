// The program ends on a stack that it has made itself; pointers are on the
// main stack, on that of another coroutine and on its own.
// findings: none
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t back, one, two;

static void first(void) {
	char *mine = malloc(50);
	mine[0] = 1;
	swapcontext(&one, &back);
	free(mine);
}

static void second(void) {
	volatile char *mine = malloc(60);
	mine[0] = 2;
	printf("%d\n", mine[0]);
	exit(mine[0] - 2);
}

int main(void) {
	char *here = malloc(70);
	here[0] = 3;
	getcontext(&one);
	one.uc_stack.ss_sp = malloc(64 << 10);
	one.uc_stack.ss_size = 64 << 10;
	makecontext(&one, first, 0);
	swapcontext(&back, &one);
	getcontext(&two);
	two.uc_stack.ss_sp = malloc(64 << 10);
	two.uc_stack.ss_size = 64 << 10;
	makecontext(&two, second, 0);
	swapcontext(&back, &two);
	return here[0];
}
