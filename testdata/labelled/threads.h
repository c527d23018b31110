// What the labelled programs have in common.
#ifndef THREADS_H
#define THREADS_H
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *(*body)(void *);

// threads runs n threads, each with its number as argument, and waits for them.
static inline void threads(int n, body f) {
	pthread_t t[16];
	for (long i = 0; i < n; i++) pthread_create(&t[i], 0, f, (void *)i);
	for (int i = 0; i < n; i++) pthread_join(t[i], 0);
}

// both runs two threads and waits for them.
static inline void both(body f, body g) {
	pthread_t a, b;
	pthread_create(&a, 0, f, 0);
	pthread_create(&b, 0, g, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
}
#endif
