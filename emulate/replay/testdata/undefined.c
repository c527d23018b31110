// Reads flags that instructions leave undefined, and flags that they don't.
#include <stdio.h>

int main(int argc, char **argv) {
	long a = 1000 + argc, r = 0;
	unsigned char set;
	for (int i = 0; i < 10; i++) {
		__asm__ volatile("mov $7,%%ecx; xor %%edx,%%edx; mov %1,%%rax; .globl left_div\nleft_div: div %%rcx\n.globl reads_div\nreads_div: jc 1f; inc %0\n1:"
		                 : "+r"(r) : "r"(a) : "rax", "rcx", "rdx", "cc"); // DIV: all undefined
		__asm__ volatile("mov %1,%%rax; shl $4,%%rax\n.globl reads_shl\nreads_shl: seto %0" : "=r"(set) : "r"(a) : "rax", "cc"); // OF, unless by one
		r += set;
		__asm__ volatile("bsf %2,%%rax; .globl reads_bsf\nreads_bsf: cmovs %2,%0" : "+r"(r) : "0"(r), "r"(a) : "rax", "cc");
		// What follows is defined.
		__asm__ volatile("mov %1,%%rax; shl $1,%%rax; seto %0" : "=r"(set) : "r"(a) : "rax", "cc");
		__asm__ volatile("xor %%ecx,%%ecx; cmp $5,%1; shl %%cl,%%rax; seto %0" : "=r"(set) : "r"(a) : "rax", "rcx", "cc"); // by zero: CMP's
		__asm__ volatile("bsf %1,%%rax; setz %0" : "=r"(set) : "r"(a) : "rax", "cc");
		__asm__ volatile("imul %1,%1; setc %0" : "=r"(set) : "r"(a) : "cc");
		__asm__ volatile("and $3,%1; pushf; popf; setp %0" : "=r"(set) : "r"(a) : "cc"); // AF is only copied
		__asm__ volatile("imul %1,%1; test %1,%1; sets %0" : "=r"(set) : "r"(a) : "cc");
	}
	printf("%d\n", (int)r != -1);
}
