// Code that two threads write and execute in turn, and read as data: what a function
// loads is in the line that it then executes, and follows on the same line and the
// next ones.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static unsigned char *page;
static atomic_int turn;

// A function at that begins with a load from its own line, n bytes behind its
// start, and continues over several lines.
static int make(int at) {
	unsigned char *p = page + at;
	int n = 0;
	p[n++] = 0x48, p[n++] = 0x8b, p[n++] = 0x05; // mov 9(%rip), %rax: the immediate of the next
	int next = 4;
	memcpy(p + n, &next, 4), n += 4;
	for (int i = 0; i < 40; i++) { // add $imm, %rax
		p[n++] = 0x48, p[n++] = 0x05;
		int v = i * 3 + at;
		memcpy(p + n, &v, 4), n += 4;
	}
	p[n++] = 0xc3;
	return n;
}

static long call(int at) { return ((long (*)(void))(page + at))(); }

static long work(int me) {
	unsigned r = 12345 + me;
	long sum = 0;
	for (int i = 0; i < 300; i++) {
		while (atomic_load(&turn) % 2 != me)
			;
		r = r * 1103515245 + 12345;
		int at = (r >> 8) % 5 * 320;
		int v = r >> 16; // changes an immediate on one of its lines
		memcpy(page + at + 9 + 6 * ((r >> 4) % 40), &v, 4);
		sum = sum * 31 + call((r >> 12) % 5 * 320);
		if (r % 7 == 0) {
			sum += page[at + 70]; // as data, before it is executed
			sum = sum * 31 + call(at);
		}
		if (r % 11 == 0)
			make(at);
		atomic_fetch_add(&turn, 1);
	}
	return sum;
}

static void *other(void *p) { return (void *)work(1); }

int main(void) {
	page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 5; i++)
		make(i * 320);
	pthread_t t;
	pthread_create(&t, 0, other, 0);
	long sum = work(0);
	void *r;
	pthread_join(t, &r);
	printf("%ld %ld\n", sum, (long)r);
	return 0;
}
