// Faults that are repaired, in the middle of string instructions too; other faults; libraries
// that come and go; a timer; read-modify-writes that race.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { SIZE = 40960 };

static char *mem;
static int faults, racy;
static volatile long ticks;
static sigjmp_buf env;

static void repair(int s, siginfo_t *i, void *c) {
	faults++;
	mprotect((char *)((long)i->si_addr & ~4095L), 4096, PROT_READ | PROT_WRITE);
}
static void escape(int s) { siglongjmp(env, 1); }
static void tick(int s) { ticks++; }

static void *work(void *arg) {
	for (int i = 0; i < 20000; i++) {
		__asm__ volatile("incl %0" : "+m"(racy));
		__asm__ volatile("decl %0" : "+m"(racy));
	}
	return 0;
}

int main(void) {
	struct sigaction sa = {.sa_sigaction = repair, .sa_flags = SA_SIGINFO};
	sigaction(SIGSEGV, &sa, 0);
	mem = mmap(0, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int k = 0; k < 3; k++) {
		mprotect(mem, SIZE, k == 1 ? PROT_NONE : PROT_READ);
		char *d = mem + 100, *s = mem;
		long n = 40000;
		__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(k + 1) : "memory");
		d = mem + 5;
		n = 40000;
		__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
		unsigned long sum = 0;
		for (int i = 0; i < SIZE; i++)
			sum = sum * 31 + mem[i];
		printf("%d %lu\n", faults, sum);
	}

	for (int i = 0; i < 3; i++) {
		void *h = dlopen("libm.so.6", RTLD_NOW);
		double (*f)(double) = dlsym(h, "cos");
		printf("%g\n", f(i));
		dlclose(h);
	}

	signal(SIGALRM, tick);
	struct itimerval it = {{0, 500}, {0, 500}};
	setitimer(ITIMER_REAL, &it, 0);
	signal(SIGILL, escape);
	for (int i = 0; i < 5; i++)
		if (!sigsetjmp(env, 1))
			__asm__ volatile("ud2");
	signal(SIGFPE, escape);
	volatile int zero = 0;
	if (!sigsetjmp(env, 1))
		printf("%d\n", 1 / zero);
	signal(SIGSEGV, escape);
	if (!sigsetjmp(env, 1))
		((void (*)(void))mem)();
	if (!sigsetjmp(env, 1))
		((void (*)(void))16)();

	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	while (ticks < 5)
		;
	it = (struct itimerval){{0}};
	setitimer(ITIMER_REAL, &it, 0);
	printf("done\n");
	return 0;
}
