// Signals: handlers, masks, stacks, frames, restarts.
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static char alt[65536];
static volatile int depth, seen;
static int pfd[2];

static int on_alt(void *p) { return (char *)p >= alt && (char *)p < alt + sizeof alt; }

static void simple(int s) { printf("simple %d\n", s); }

static void info(int s, siginfo_t *si, void *u) {
	int x;
	ucontext_t *uc = u;
	printf("info %d code %d pid %d value %d alt %d same %d stackflags %d\n", s, si->si_code, si->si_pid == getpid(),
	       si->si_code == SI_QUEUE ? si->si_value.sival_int : 0, on_alt(&x), si->si_signo == s, (int)uc->uc_stack.ss_flags);
	seen = s;
}

static void nested(int s) {
	int d = ++depth;
	printf("in %d\n", d);
	if (d < 3) raise(s);
	printf("out %d\n", d);
}

static void fp(int s) {
	volatile double a = 1, b = 3;
	fesetround(FE_UPWARD);
	a /= b;
}

static void regs(int s, siginfo_t *si, void *u) {
	ucontext_t *uc = u;
	uc->uc_mcontext.gregs[REG_RAX] = 1234;
	uc->uc_mcontext.gregs[REG_RIP] += 2;
	printf("frame %d fp %d\n", ((unsigned long)__builtin_frame_address(0) & 15) == 0,
	       uc->uc_mcontext.fpregs != 0 && uc->uc_mcontext.fpregs->mxcsr == 0x1f80);
}

static void *sender(void *t) {
	usleep(50000);
	pthread_kill(*(pthread_t *)t, SIGUSR1);
	usleep(50000);
	pthread_kill(*(pthread_t *)t, SIGUSR2);
	usleep(50000);
	if (write(pfd[1], "x", 1) != 1) perror("write");
	return 0;
}

static void set(int s, void (*h)(int), int flags) {
	struct sigaction a = {.sa_handler = h, .sa_flags = flags};
	sigaction(s, &a, 0);
}

int main(void) {
	setvbuf(stdout, 0, _IONBF, 0);
	signal(SIGUSR1, simple);
	raise(SIGUSR1);
	kill(getpid(), SIGUSR1);

	stack_t ss = {.ss_sp = alt, .ss_size = sizeof alt};
	sigaltstack(&ss, 0);
	struct sigaction a = {.sa_sigaction = info, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaction(SIGUSR2, &a, 0);
	raise(SIGUSR2);
	sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 77});
	sigaction(SIGRTMIN + 1, &a, 0);

	sigset_t set1, old;
	sigemptyset(&set1);
	sigaddset(&set1, SIGRTMIN + 1);
	sigaddset(&set1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set1, &old);
	for (int i = 0; i < 3; i++) sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i});
	raise(SIGUSR1);
	raise(SIGUSR1);
	sigset_t pend;
	sigpending(&pend);
	printf("pending %d %d %d\n", sigismember(&pend, SIGUSR1), sigismember(&pend, SIGRTMIN + 1), sigismember(&pend, SIGUSR2));
	puts("unblock");
	sigprocmask(SIG_SETMASK, &old, 0);

	set(SIGUSR1, nested, SA_NODEFER);
	raise(SIGUSR1);
	depth = 0;
	set(SIGUSR1, nested, 0);
	raise(SIGUSR1);
	set(SIGUSR1, simple, SA_RESETHAND);
	raise(SIGUSR1);
	sigaction(SIGUSR1, 0, &a);
	printf("reset %d\n", a.sa_handler == SIG_DFL);

	// A handler's floating-point state is its own.
	set(SIGUSR1, fp, 0);
	volatile double x = 1, y = 3;
	double r1 = x / y;
	raise(SIGUSR1);
	printf("rounding kept %d %d\n", r1 == x / y, fegetround() == FE_TONEAREST);

	// A handler that changes the context.
	struct sigaction b = {.sa_sigaction = regs, .sa_flags = SA_SIGINFO};
	sigaction(SIGILL, &b, 0);
	long rax;
	__asm__ volatile("mov $5, %%eax; ud2" : "=a"(rax));
	printf("rax %ld\n", rax);

	// Restarted and interrupted reads.
	pthread_t t, self = pthread_self();
	if (pipe(pfd)) return 1;
	set(SIGUSR1, simple, SA_RESTART);
	set(SIGUSR2, simple, 0);
	pthread_create(&t, 0, sender, &self);
	char c;
	long n = read(pfd[0], &c, 1);
	printf("read %ld %s\n", n, strerror(n < 0 ? errno : 0));
	n = read(pfd[0], &c, 1);
	printf("read %ld %c\n", n, c);
	pthread_join(t, 0);

	// sigsuspend, sigtimedwait, nanosleep interrupted.
	sigemptyset(&set1);
	sigaddset(&set1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set1, &old);
	raise(SIGUSR1);
	n = sigsuspend(&old);
	printf("suspend %ld %d\n", n, errno == EINTR);
	raise(SIGUSR1);
	siginfo_t si;
	n = sigwaitinfo(&set1, &si);
	printf("wait %ld %d\n", n, si.si_code == SI_TKILL);
	struct timespec ts = {0, 3000000};
	n = sigtimedwait(&set1, &si, &ts);
	printf("timedwait %ld %d\n", n, errno == EAGAIN);
	sigprocmask(SIG_SETMASK, &old, 0);
	set(SIGALRM, simple, SA_RESTART);
	ualarm(200000, 0);
	ts.tv_sec = 5;
	n = nanosleep(&ts, &ts);
	printf("sleep %ld %d left %d\n", n, errno == EINTR, ts.tv_sec == 4);
	timer_t timer;
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	timer_create(CLOCK_MONOTONIC, &ev, &timer);
	struct itimerspec it = {{0, 0}, {0, 5000000}};
	sigprocmask(SIG_BLOCK, &set1, &old);
	timer_settime(timer, 0, &it, 0);
	sigsuspend(&old);
	sigprocmask(SIG_SETMASK, &old, 0);
	printf("alarm left %d\n", alarm(100) == 0 && alarm(0) == 100);
	raise(SIGTERM);
	return 0;
}
