// Breakpoints, single-stepping by the trap flag, and code that changes itself, lies
// on two pages, or is mapped twice.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static char out[1 << 16];
static int at;
#define say(...) (at += snprintf(out + at, sizeof out - at, __VA_ARGS__))

extern char step_from[], step_to[], break_at[];
static volatile int steps;
static unsigned char *fixed;

static void trap(int s, siginfo_t *si, void *u) {
	ucontext_t *uc = u;
	uint64_t rip = uc->uc_mcontext.gregs[REG_RIP];
	int tf = uc->uc_mcontext.gregs[REG_EFL] >> 8 & 1;
	if (rip >= (uint64_t)step_from && rip <= (uint64_t)step_to) {
		steps++;
		say("step %d at +%d code %d trap %d tf %d addr %d rax %d\n", (int)steps, (int)(rip - (uint64_t)step_from), si->si_code,
		    (int)uc->uc_mcontext.gregs[REG_TRAPNO], tf, si->si_addr == (void *)rip, (int)uc->uc_mcontext.gregs[REG_RAX]);
		if (steps == 9) uc->uc_mcontext.gregs[REG_EFL] &= ~0x100; // no more
		return;
	}
	say("break at +%d code %d trap %d tf %d\n", (int)(rip - (uint64_t)break_at), si->si_code, (int)uc->uc_mcontext.gregs[REG_TRAPNO], tf);
}

static void stepping(void) {
	long r = 0;
	__asm__ volatile("pushf; orl $0x100,(%%rsp); popf\n"
	                 ".globl step_from\nstep_from: nop; mov $1,%%eax; add $2,%%eax; jmp 1f; ud2\n1: push %%rax; pop %%rcx\n"
	                 "mov $39,%%eax; syscall; xor %%eax,%%eax; inc %%eax\n inc %%eax; inc %%eax; .globl step_to\nstep_to: inc %%eax\n"
	                 : "=a"(r)::"rcx", "r11", "cc", "memory");
	say("stepped %d times, %ld\n", (int)steps, r);
	__asm__ volatile(".globl break_at\nbreak_at: int3; nop; .byte 0xf1; nop");
}

static int call(void *p) { return ((int (*)(void))p)(); }

// A fetch from the second page faults until it may be executed.
static void segv(int s, siginfo_t *si, void *u) {
	say("fetch fault at +%#lx\n", (unsigned long)((unsigned char *)si->si_addr - fixed));
	mprotect(fixed, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
}

static void changing(void) {
	unsigned char *p = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	// mov byte [next+1], 42; mov al, 1; movzx eax, al; ret: changes what follows in its own block.
	unsigned char own[] = {0xc6, 0x05, 1, 0, 0, 0, 42, 0xb0, 1, 0x0f, 0xb6, 0xc0, 0xc3};
	for (int i = 0; i < 3; i++) {
		own[6] = 42 + i;
		memcpy(p, own, sizeof own);
		say("own %d", call(p));
		say(" %d\n", call(p));
	}
	// The same with 16 bytes: movups [rip+0], xmm0 over "mov eax, 7; ret".
	unsigned char wide[] = {0x0f, 0x10, 0x05, 25, 0, 0, 0, 0x0f, 0x11, 0x05, 0, 0, 0, 0, 0xb8, 7, 0, 0, 0, 0xc3, 0x90, 0x90, 0x90, 0x90,
	                        0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xb8, 9, 0, 0, 0, 0xc3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	memcpy(p, wide, sizeof wide);
	say("wide %d %d\n", call(p), call(p));
	// An instruction on two pages, of which either half changes.
	for (int i = 0; i < 4; i++) {
		unsigned char c[] = {0xb8, i, i * 3, 0, 0, 0xc3};
		memcpy(p + 4096 - 2 - i % 2, c, sizeof c);
		say("across %d", call(p + 4096 - 2 - i % 2));
		p[4096 + 1 - i % 2] = 1;
		say(" %d\n", call(p + 4096 - 2 - i % 2));
	}
	fixed = p;
	mprotect(p + 4096, 4096, PROT_READ | PROT_WRITE);
	say("across %d\n", call(p + 4096 - 3));
	// Mapped twice: written here, executed there.
	int fd = memfd_create("code", 0);
	if (ftruncate(fd, 4096)) return;
	unsigned char *w = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unsigned char *x = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	for (int i = 0; i < 200; i++) {
		unsigned char c[] = {0xb8, i, 1, 0, 0, 0xc3};
		memcpy(w + i % 5 * 7, c, sizeof c);
		int v = call(x + i % 5 * 7);
		if (v != 256 + i) say("stale: %d at %d\n", v, i);
	}
	say("twice %d\n", call(x));
}

int main(void) {
	struct sigaction sa = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO};
	sigaction(SIGTRAP, &sa, 0);
	sa.sa_sigaction = segv;
	sigaction(SIGSEGV, &sa, 0);
	stepping();
	changing();
	if (write(1, out, at) != at) return 1;
	return 0;
}
