// verdict: none
// flags: -O1
// what was written before a handler was installed is there when it runs,
// whichever thread it interrupts, and whoever sent the signal
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static int limit, table[4];
static volatile sig_atomic_t bad;

static void handler(int sig) {
	if (limit != 4 || table[sig % limit] != 7)
		bad = 1;
}

static void *sleeper(void *arg) {
	for (int i = 0; i < 40; i++)
		usleep(500);
	return NULL;
}

int main(void) {
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, sleeper, NULL);
	sigset_t set; // for the others to get the signals
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 4; i++)
		table[i] = 7;
	limit = 4;
	struct sigaction act = {0};
	act.sa_handler = handler;
	sigaction(SIGALRM, &act, NULL);
	struct itimerval every = {{0, 700}, {0, 700}};
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	signal(SIGALRM, SIG_IGN);
	printf("%d\n", bad);
	return 0;
}
