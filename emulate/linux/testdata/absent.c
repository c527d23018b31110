// Instructions that the processor doesn't have: SIGILL at the first byte, nothing
// changed, and the handler can go on behind them. With an argument, also AVX-512's.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static int length;
static unsigned char *code;

static void ill(int s, siginfo_t *si, void *u) {
	ucontext_t *uc = u;
	greg_t *r = uc->uc_mcontext.gregs;
	printf("  signal %d code %d trap %d at +%ld addr +%ld rax %lld\n", s, si->si_code, (int)r[REG_TRAPNO],
	       (long)(r[REG_RIP] - (long)code), (long)((unsigned char *)si->si_addr - code), r[REG_RAX]);
	r[REG_RIP] += length;
	r[REG_RAX]++;
}

static void try(const char *name, const unsigned char *b, int n) {
	unsigned char *p = code;
	printf("%s\n", name);
	length = n;
	memcpy(p, "\xb8\x05\x00\x00\x00", 5); // mov $5,%eax
	memcpy(p + 5, b, n);
	memcpy(p + 5 + n, "\x83\xc0\x0a\xc3", 4); // add $10,%eax; ret
	printf("  gave %d\n", ((int (*)(void))p)());
}
#define TRY(name, bytes) try(name, (const unsigned char *)bytes, sizeof bytes - 1)

int main(int argc, char **argv) {
	struct sigaction a = {.sa_sigaction = ill, .sa_flags = SA_SIGINFO};
	sigaction(SIGILL, &a, 0);
	code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	TRY("push es", "\x06");
	TRY("aaa", "\x37");
	TRY("0f 04", "\x0f\x04");
	TRY("0f a6", "\x0f\xa6\xc0");
	TRY("3DNow", "\x0f\x0f\xc1\x9e");
	TRY("ud2", "\x0f\x0b");
	TRY("movaps with lock", "\xf0\x0f\x28\xc1");
	TRY("a REX prefix before VEX", "\x48\xc5\xf8\x28\xc1");
	if (argc > 1) {
		TRY("vaddps zmm", "\x62\xf1\x7c\x48\x58\xc0");
		TRY("vpaddd xmm with a mask", "\x62\xf1\x7d\x09\xfe\xc1");
		TRY("kmovw", "\xc5\xf8\x92\xc8");
	}
	TRY("vaddps with another map", "\xc4\xe7\x78\x58\xc0");
	signal(SIGILL, SIG_DFL);
	fflush(stdout);
	TRY("at last", "\x0f\x04");
}
