/* Names and lines of every kind: globals, statics, members, inlining. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct point { int x, y; };
struct config { char name[16]; double level; struct { short a; unsigned f1:3, f2:5; } in; union { long l; char c[8]; } u; };

int balance;
struct config conf;
struct point ring[8];
static volatile long hidden[4][3];
__thread int per_thread = 7;
__thread struct point tls_point;

static inline __attribute__((always_inline)) int twice(int v)
{
	balance += v;
	return v * 2;
}

static __attribute__((noinline)) int counter(int by)
{
	static int calls;
	calls += by;
	return twice(calls) + twice(by);
}

__attribute__((noinline)) double scale(double f, struct point p, char *s, long long n)
{
	conf.level = f * p.x;
	hidden[1][2] = n;
	return f + p.y + strlen(s);
}

__attribute__((noinline)) void local(struct point *out)
{
	struct point here = { 1, 2 };
	volatile int grid[4] = { 0 };
	grid[2] = out->x;
	memcpy(out, &here, sizeof here);
	out->y += grid[2];
}

__attribute__((noinline)) void release(void *p) { free(p); }

void *work(void *arg)
{
	struct point p = { 3, 4 };
	per_thread += counter(*(int *)arg);
	tls_point.y = 1;
	local(&p);
	ring[3].x = p.y;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;
	int one = 1;
	struct point p = { argc, 2 };
	pthread_create(&t, NULL, work, &one);
	pthread_join(t, NULL);
	printf("%d %f\n", balance, scale(1.5, p, argv[0], argc));
	release(malloc(10));
	return 0;
}

__attribute__((noinline)) char *words(char *s) { return strtok(s, " "); }
