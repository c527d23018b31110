// Sections with allocation, locks, formatted output, system calls and floating
// point.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct item { struct item *next; char name[24]; double weight; };
static struct item *items;
static long count;
static char last[64];

__attribute__((noinline)) struct item *keep(int i)
{
	struct item *p = malloc(sizeof *p);
	snprintf(p->name, sizeof p->name, "item %d", i);
	p->weight = i * 0.25;
	pthread_mutex_lock(&lock);
	p->next = items;
	items = p;
	count++;
	pthread_mutex_unlock(&lock);
	return p;
}

__attribute__((noinline)) size_t text(const struct item *p)
{
	char buf[64];
	int n = snprintf(buf, sizeof buf, "%s=%.2f", p->name, p->weight);
	pthread_mutex_lock(&lock);
	memcpy(last, buf, n + 1);
	pthread_mutex_unlock(&lock);
	return strlen(buf);
}

__attribute__((noinline)) long work(int i)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	char *p = calloc(1, 100 + i);
	memset(p, i, 50);
	long n = p[49] + (ts.tv_nsec & 1) + getppid();
	free(p);
	return n;
}

static void *run(void *arg)
{
	long n = 0;
	for (int i = 0; i < 8; i++) {
		n += work(i);
		n += text(keep(i));
	}
	return (void *)n;
}

int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, run, NULL);
	run(NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%ld %s\n", count, last);
	return 0;
}
