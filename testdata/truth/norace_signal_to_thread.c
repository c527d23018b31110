// verdict: none
// flags: -O1
// What a thread did before it sent a signal, the handler knows.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static int value;
static volatile sig_atomic_t got;

static void handler(int signo) {
	value++;
	got = signo;
}

static void *wait_for_it(void *unused) {
	while (!got)
		usleep(50);
	return unused;
}

int main(void) {
	signal(SIGUSR1, handler);
	pthread_t t;
	pthread_create(&t, 0, wait_for_it, 0);
	value = 5;
	pthread_kill(t, SIGUSR1);
	pthread_join(t, 0);
	printf("%d\n", value);
	return 0;
}
