// The program's own allocators, on top of malloc and of mmap.
// findings: none
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct arena { struct arena *next; size_t used; char mem[4000]; };
static struct arena *first;

static void *take(size_t n) {
	n = (n + 15) & ~(size_t)15;
	if (!first || first->used + n > sizeof first->mem) {
		struct arena *a = malloc(sizeof *a);
		a->next = first;
		a->used = 0;
		first = a;
	}
	void *p = first->mem + first->used;
	first->used += n;
	return p;
}

struct slot { struct slot *free; };
static struct slot *pool;

static void *slot(void) {
	if (!pool) {
		char *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (int i = 0; i < 8192; i += 64) {
			struct slot *s = (struct slot *)(m + i);
			s->free = pool;
			pool = s;
		}
	}
	struct slot *s = pool;
	pool = s->free;
	return s;
}

int main(void) {
	char **names = take(200 * sizeof *names);
	size_t n = 0;
	for (int i = 0; i < 200; i++) {
		names[i] = take(i + 1);
		memset(names[i], 'a', i);
		names[i][i] = 0;
	}
	for (int i = 0; i < 200; i++)
		n += strlen(names[i]);
	char *heap[100];
	for (int i = 0; i < 100; i++) {
		void **s = slot();
		s[1] = malloc(i + 1);
		*(char *)s[1] = i;
		heap[i] = s[1];
	}
	for (int i = 0; i < 100; i += 2)
		free(heap[i]);
	printf("%zu\n", n);
	return 0;
}
