// Signals: raise, kill between threads, SIGSEGV with its address, an alternate stack, a timer.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static sigjmp_buf env;
static volatile sig_atomic_t count;
static void *volatile fault;

static void onSegv(int s, siginfo_t *i, void *c) {
	fault = i->si_addr;
	siglongjmp(env, 1);
}
static void onUsr(int s) { count++; }

static void *work(void *arg) {
	while (count < 5)
		usleep(10);
	return 0;
}

int main(void) {
	static char stack[64 << 10];
	stack_t ss = {.ss_sp = stack, .ss_size = sizeof stack};
	sigaltstack(&ss, 0);
	struct sigaction sa = {.sa_sigaction = onSegv, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaction(SIGSEGV, &sa, 0);
	signal(SIGUSR1, onUsr);

	char *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(p, 1, 8192);
	for (int k = 0; k < 3; k++) {
		mprotect(p + 4096, 4096, k == 1 ? PROT_NONE : PROT_READ);
		if (sigsetjmp(env, 1) == 0) {
			if (k == 2)
				for (volatile char *q = p; q < p + 8192; q++)
					*q = 7;
			else
				p[4096 + 100] = 2;
			printf("not reached\n");
		}
		printf("fault at +%ld\n", (long)((char *)fault - p));
		mprotect(p + 4096, 4096, PROT_READ | PROT_WRITE);
		printf("%d\n", p[4096 + 100]);
	}
	if (sigsetjmp(env, 1) == 0)
		*(volatile int *)8 = 1;
	printf("fault at %p\n", fault);
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	raise(SIGUSR1);
	for (int i = 2; i <= 5; i++) {
		pthread_kill(t, SIGUSR1);
		while (count < i)
			usleep(10);
	}
	pthread_join(t, 0);
	printf("%d\n", count);
	fflush(stdout);
	kill(getpid(), SIGTERM);
	return 0;
}
