/* Puts marks in its trace, and touches pages for the first time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void mark(const char *name, uint64_t value) {
	uint32_t a = 0x4b4d5352, b, c = 0;
	uint64_t d = value;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "+d"(d) : "S"(name) : "memory");
}

int main(void) {
	volatile char *p = malloc(1 << 20);
	mark("begin", 7);
	for (int i = 0; i < 1 << 20; i += 4096)
		p[i] = 1;
	mark("end of the loop", 1ull << 40);
	puts("done");
	return 0;
}
