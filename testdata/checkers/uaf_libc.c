// Run-time functions that are given a freed block.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
	char *s = malloc(100), *t = malloc(100);
	memset(s, 'a', 99);
	s[99] = 0;
	strcpy(t, s);
	free(s);
	size_t n = strlen(s + 20); // finding: use-after-free
	memset(s + 16, 0, 60); // finding: use-after-free
	int fd = open("/dev/null", 1);
	if (write(fd, s, 30) != 30) // finding: use-after-free
		return 1;
	printf("%d %zu\n", n > 1000, strlen(t));
	free(t);
	return 0;
}
