// Makes the file that its first argument names, then waits for ever: for a
// signal with "pause", else busily. With "catch" it handles SIGINT.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t got;
static volatile long spins;

static void handler(int s) { got = s; }

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "";
	if (strcmp(how, "catch") == 0)
		signal(SIGINT, handler);
	// So much that something of it is in the trace if racesim is killed.
	static char text[1 << 19];
	for (int i = 0; i < 1 << 19; i += 8)
		text[i] = i;
	close(open(argv[1], O_CREAT | O_WRONLY, 0666));
	while (!got)
		if (strcmp(how, "pause") == 0)
			pause();
		else
			spins++;
	printf("got signal %d\n", (int)got);
	return 5;
}
