// Starts the program that its argument names, in a child made by vfork, after
// having executed some code of its own there.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1) * 1; }

int main(int argc, char **argv) {
	int st;
	pid_t p = vfork();
	if (p == 0) {
		volatile int n = depth(20);
		execv(argv[1], argv + 1);
		_exit(n);
	}
	waitpid(p, &st, 0);
	printf("%d %d\n", WIFEXITED(st), WEXITSTATUS(st));
	return 0;
}
