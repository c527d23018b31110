// Asks, and answers at once: what is typed must reach it line by line.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	char name[80];
	printf("terminal %d\nname? ", isatty(0));
	fflush(stdout);
	if (!fgets(name, sizeof name, stdin))
		return 1;
	name[strcspn(name, "\n")] = 0;
	printf("hello %s\n", name);
	return 0;
}
