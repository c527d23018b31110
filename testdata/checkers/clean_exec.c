// A program that takes its own place leaves nothing behind.
// findings: none
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char *volatile p = malloc(100);
	strcpy(p, "lost with the program");
	if (argc < 2) {
		p = NULL;
		execl(argv[0], argv[0], "again", (char *)NULL);
		return 1;
	}
	free(p);
	return 0;
}
