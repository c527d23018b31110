// Clocks agree with one another and with sleeping.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static volatile int ticks;
static void tick(int s) { ticks++; }

static long long ns(clockid_t c) {
	struct timespec t;
	clock_gettime(c, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void *spin(void *a) {
	volatile long n = 0;
	for (long i = 0; i < 300000; i++) n += i;
	return (void *)(ns(CLOCK_THREAD_CPUTIME_ID) > 0);
}

int main(void) {
	long long a = ns(CLOCK_MONOTONIC), r = ns(CLOCK_REALTIME);
	usleep(30000);
	long long b = ns(CLOCK_MONOTONIC), r2 = ns(CLOCK_REALTIME);
	printf("slept %d %d\n", b - a >= 30000000 && b - a < 1000000000, r2 - r >= 29000000);
	struct timeval tv;
	gettimeofday(&tv, 0);
	time_t t = time(0);
	printf("agree %d %d\n", t - tv.tv_sec <= 1, tv.tv_sec * 1000000000LL - r2 < 2000000000LL);
	pthread_t th;
	void *res;
	pthread_create(&th, 0, spin, 0);
	pthread_join(th, &res);
	printf("cpu %d %d\n", res != 0, ns(CLOCK_PROCESS_CPUTIME_ID) > 0);
	struct timespec abs;
	clock_gettime(CLOCK_MONOTONIC, &abs);
	abs.tv_sec += 1;
	a = ns(CLOCK_MONOTONIC);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &abs, 0);
	printf("absolute %d\n", ns(CLOCK_MONOTONIC) - a >= 900000000);
	signal(SIGALRM, tick);
	struct itimerval it = {{0, 5000}, {0, 5000}};
	setitimer(ITIMER_REAL, &it, 0);
	while (ticks < 5) pause();
	it.it_interval.tv_usec = it.it_value.tv_usec = 0;
	setitimer(ITIMER_REAL, &it, 0);
	printf("ticks %d\n", ticks);
	ticks = 0;
	it.it_value.tv_usec = 3000;
	setitimer(ITIMER_REAL, &it, 0);
	while (!ticks) ;
	puts("spinning was interrupted");
	struct rusage ru;
	getrusage(RUSAGE_SELF, &ru);
	printf("usage %d\n", ru.ru_utime.tv_sec >= 0);
	struct timespec bad = {0, 1000000000}, res2;
	printf("bad %d %d res %d\n", nanosleep(&bad, 0), errno == EINVAL, clock_getres(CLOCK_MONOTONIC, &res2));
	return 0;
}
