// Executes single SSE and MMX instructions on the real processor, for
// exec_sse_test.go. Input is a sequence of batches: the instruction's bytes and
// a number of states; output is each state as the instruction left it.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define CODE 0x20000000
#define DATA 0x20010000

struct state {
	uint64_t xmm[4][2], mm[2];
	uint64_t gpr[6]; // rax rcx rdx rbx rsi rdi
	uint64_t flags;
	uint32_t mxcsr, signal;
	uint16_t tags, status, pad[2];
	uint64_t mem[8];
};

struct batch {
	uint32_t n, len;
	uint8_t code[16];
};

uint8_t fx[512] __attribute__((aligned(64)));
uint64_t gpr[6], flags;
static volatile uint32_t caught;

void run(void);
asm(".text\n"
    "run: push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
    "fxrstor64 fx\n"
    "mov gpr, %rax; mov gpr+8, %rcx; mov gpr+16, %rdx; mov gpr+24, %rbx; mov gpr+32, %rsi; mov gpr+40, %rdi\n"
    "push flags; popfq\n"
    "mov $0x20000000, %r11d\n"
    "call *%r11\n"
    "mov %rax, gpr; mov %rcx, gpr+8; mov %rdx, gpr+16; mov %rbx, gpr+24; mov %rsi, gpr+32; mov %rdi, gpr+40\n"
    "pushfq; pop flags\n"
    "fxsave64 fx\n"
    "fninit\n"
    "push $0x1f80; ldmxcsr (%rsp); pop %rax\n"
    "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
    "ret\n");

// on_signal returns from the instruction to run, leaving the state as it is.
static void on_signal(int sig, siginfo_t *info, void *p) {
	greg_t *r = ((ucontext_t *)p)->uc_mcontext.gregs;
	(void)info;
	caught = sig;
	r[REG_RIP] = *(greg_t *)r[REG_RSP];
	r[REG_RSP] += 8;
}

static void one(struct state *s) {
	memset(fx, 0, sizeof fx);
	*(uint16_t *)fx = 0x37f;
	*(uint16_t *)(fx + 2) = s->status;
	fx[4] = s->tags;
	memcpy(fx + 24, &s->mxcsr, 4);
	int top = s->status >> 11 & 7;
	for (int i = 0; i < 2; i++)
		memcpy(fx + 32 + 16 * ((i - top) & 7), &s->mm[i], 8);
	memcpy(fx + 160, s->xmm, sizeof s->xmm);
	memcpy(gpr, s->gpr, sizeof gpr);
	memcpy((void *)DATA, s->mem, sizeof s->mem);
	flags = s->flags | 0x202;
	caught = 0;
	run();
	s->signal = caught;
	s->status = *(uint16_t *)(fx + 2);
	s->tags = fx[4];
	memcpy(&s->mxcsr, fx + 24, 4);
	top = s->status >> 11 & 7;
	for (int i = 0; i < 2; i++)
		memcpy(&s->mm[i], fx + 32 + 16 * ((i - top) & 7), 8);
	memcpy(s->xmm, fx + 160, sizeof s->xmm);
	memcpy(s->gpr, gpr, sizeof gpr);
	memcpy(s->mem, (void *)DATA, sizeof s->mem);
	s->flags = flags;
}

int main(void) {
	static char stack[65536];
	stack_t ss = {.ss_sp = stack, .ss_size = sizeof stack};
	sigaltstack(&ss, 0);
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaction(SIGFPE, &sa, 0);
	sigaction(SIGSEGV, &sa, 0);
	sigaction(SIGILL, &sa, 0);
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	uint8_t *code = mmap((void *)CODE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, flags, -1, 0);
	if (code == MAP_FAILED || mmap((void *)DATA, 4096, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	struct batch b;
	struct state s;
	while (fread(&b, sizeof b, 1, stdin) == 1) {
		memcpy(code, b.code, b.len);
		code[b.len] = 0xc3;
		for (uint32_t i = 0; i < b.n; i++) {
			if (fread(&s, sizeof s, 1, stdin) != 1)
				return 1;
			one(&s);
			fwrite(&s, sizeof s, 1, stdout);
		}
	}
	return fflush(stdout) != 0;
}
