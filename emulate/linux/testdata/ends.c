// The ways to end: argument 1 says which.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void bye(void) { puts("atexit"); }
static void *leave(void *a) { exit(7); }
static void *last(void *a) {
	usleep(1000);
	puts("last");
	return 0;
}
static void *spin(void *a) {
	for (;;) ;
}

int main(int argc, char **argv) {
	const char *w = argv[1];
	pthread_t t;
	atexit(bye);
	if (!strcmp(w, "abort")) abort();
	if (!strcmp(w, "segv")) *(volatile int *)0 = 1;
	if (!strcmp(w, "fpe")) return 1 / (argc - 2);
	if (!strcmp(w, "kill")) raise(SIGKILL);
	if (!strcmp(w, "hup")) kill(0, SIGHUP);
	if (!strcmp(w, "thread")) pthread_create(&t, 0, leave, 0), pause();
	if (!strcmp(w, "spin")) {
		pthread_create(&t, 0, spin, 0);
		pthread_create(&t, 0, spin, 0);
		usleep(100);
		return 300;
	}
	if (!strcmp(w, "main")) pthread_create(&t, 0, last, 0), pthread_exit(0);
	if (!strcmp(w, "_exit")) _exit(9);
	if (!strcmp(w, "overflow")) {
		char c[10];
		memset(c, 'x', 30 + argc);
		printf("%s", c);
	}
	return 0;
}
