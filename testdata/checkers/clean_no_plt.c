// flags: -O1 -fno-plt -fno-builtin
// findings: none
// memcmp loads whole vectors, and is called through its slot, not through a stub.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
	int equal = 0;
	for (int i = 0; i < 4; i++) {
		char *a = malloc(24), *gone = malloc(72), *b = malloc(24);
		memset(a, i, 24);
		memset(gone, 0, 72);
		memset(b, 0, 24);
		free(gone);
		equal += memcmp(a + 8, b + 8, 16) == 0;
		free(a);
		free(b);
	}
	printf("%d\n", equal);
	return 0;
}
