// What strdup returns must be freed.
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

static size_t measure(const char *s) {
	char *copy = strdup(s); // finding: leak
	size_t n = strlen(copy);
	return n;
}

int main(void) {
	printf("%zu\n", measure("a few words"));
	return 0;
}
