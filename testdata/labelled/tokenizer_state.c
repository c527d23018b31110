// verdict: harmful
// a parser keeps its place in a static variable
#include "threads.h"

static const char *volatile at;

static int number(const char *s) {
	int v = 0;
	for (at = s; *at; at++) v = v * 10 + (*at - '0');
	return v;
}

static int wrong;

static void *a(void *arg) {
	for (int i = 0; i < 60; i++)
		if (number("12345") != 12345) __sync_fetch_and_add(&wrong, 1);
	return 0;
}

static void *b(void *arg) {
	for (int i = 0; i < 60; i++)
		if (number("777") != 777) __sync_fetch_and_add(&wrong, 1);
	return 0;
}

int main(void) {
	both(a, b);
	return 0;
}
