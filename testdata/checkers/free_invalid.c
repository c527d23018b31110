// What is freed isn't what was allocated. In front of it stands what the
// allocator wants to see there, so that it doesn't notice.
// flags: -Wno-free-nonheap-object
#include <stdio.h>
#include <stdlib.h>

static struct { size_t before, size; char text[64]; } fake __attribute__((aligned(16))) = {0, 0x51, "x"};

int main(void) {
	size_t *p = malloc(200);
	for (int i = 0; i < 25; i++)
		p[i] = 0x51;
	free(p + 8); // finding: invalid-free
	char *text = fake.text;
	__asm__("" : "+r"(text));
	free(text); // finding: invalid-free
	puts("done");
	fflush(stdout);
	_Exit(0);
}
