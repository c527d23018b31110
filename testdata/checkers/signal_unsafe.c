// Handlers that print and allocate, beside one that does what it may.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static char *copy;

static void careful(int s) {
	char text[8];
	strcpy(text, "usr2\n");
	if (write(1, text, strlen(text)) == 5)
		seen = 1;
}

static void remember(void) {
	copy = strdup("alarm"); // finding: signal-unsafe-call
}

static void careless(int s) {
	remember();
	printf("%s\n", copy); // finding: signal-unsafe-call
}

int main(void) {
	signal(SIGUSR2, careful);
	signal(SIGALRM, careless);
	raise(SIGUSR2);
	alarm(1);
	while (!copy)
		pause();
	free(copy);
	fflush(stdout);
	return 0;
}
