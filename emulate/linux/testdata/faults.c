// Faults become signals with the right address and code.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf env;
static char *base;
static char alt[32768];

static void handler(int s, siginfo_t *si, void *u) {
	ucontext_t *uc = u;
	long off = (char *)si->si_addr - base;
	int x;
	printf("signal %d code %d off %ld trap %d err %d cr2 %d alt %d\n", s, si->si_code,
	       s == SIGSEGV || s == SIGBUS ? off : si->si_addr == (void *)uc->uc_mcontext.gregs[REG_RIP],
	       (int)uc->uc_mcontext.gregs[REG_TRAPNO],
	       (int)uc->uc_mcontext.gregs[REG_ERR] & 23, (void *)uc->uc_mcontext.gregs[REG_CR2] == si->si_addr,
	       (char *)&x >= alt && (char *)&x < alt + sizeof alt);
	siglongjmp(env, 1);
}

static int recurse(volatile char *p) {
	volatile char buf[1024];
	buf[0] = *p;
	return recurse(buf) + buf[0];
}

#define TRY(what) if (!sigsetjmp(env, 1)) { what; puts("nothing happened"); }

int main(void) {
	setvbuf(stdout, 0, _IONBF, 0);
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof alt};
	sigaltstack(&ss, 0);
	struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	int sigs[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	for (int i = 0; i < 5; i++) sigaction(sigs[i], &a, 0);
	base = mmap(0, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(base + 4096, 4096, PROT_READ);
	mprotect(base + 8192, 4096, PROT_NONE);
	munmap(base + 3 * 4096, 4096);
	volatile char *p = base;
	TRY(p[4096 + 13] = 1);
	TRY((void)p[8192 + 77]);
	TRY(p[8192 + 78] = 1);
	TRY((void)*(volatile long *)(p + 3 * 4096 + 9));
	TRY(*(volatile long *)(p + 4096 - 4) = 1);
	TRY(((void (*)(void))(base + 64))());
	printf("page 0 %d\n", p[4095]);
	base = 0;
	TRY(*(volatile int *)16 = 1);
	TRY(*(volatile int *)0xdead000000000000 = 1);
	base = 0;
	volatile int z = 0, o = 1;
	TRY(o = o / z);
	TRY(__asm__ volatile("ud2"));
	if (!sigsetjmp(env, 1)) { __asm__ volatile("int3"); }
	FILE *f = tmpfile();
	if (ftruncate(fileno(f), 100)) return 1;
	base = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
	base[50] = 'x';
	printf("in file %d\n", pread(fileno(f), &alt, 1, 50) == 1 && alt[0] == 'x');
	TRY(base[4096 + 5] = 1);
	base = 0;
	if (!sigsetjmp(env, 1)) { signal(SIGSEGV, SIG_DFL); a.sa_sigaction = (void *)handler; }
	struct sigaction q = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaction(SIGSEGV, &q, 0);
	fflush(stdout);
	if (!sigsetjmp(env, 1)) {
		char c = 1;
		int fd = dup(1);
		FILE *null = freopen("/dev/null", "w", stdout); // where the stack ends isn't the same
		(void)null;
		dup2(fd, 1);
		recurse(&c);
	}
	if (write(1, "overflow caught\n", 16) != 16) return 1;
	signal(SIGSEGV, SIG_DFL);
	*(volatile int *)8 = 1;
	return 0;
}
