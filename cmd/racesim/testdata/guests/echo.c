// Says its arguments, repeats its stdin in capitals, says how often on stderr,
// and ends with the status in $STATUS.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		printf("[%s]", argv[i]);
	puts("");
	fflush(stdout);
	int c, n = 0;
	while ((c = getchar()) != EOF) {
		putchar(toupper(c));
		if (c == '\n') {
			n++;
			fflush(stdout);
		}
	}
	fprintf(stderr, "%d lines\n", n);
	return getenv("STATUS") ? atoi(getenv("STATUS")) : 0;
}
