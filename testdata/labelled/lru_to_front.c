// verdict: harmful
// a doubly linked list is rearranged by two threads
#include "threads.h"

struct item { struct item *prev, *next; int key; };
static struct item head, items[8];

static void to_front(struct item *x) {
	x->prev->next = x->next;
	x->next->prev = x->prev;
	x->next = head.next;
	x->prev = &head;
	head.next->prev = x;
	head.next = x;
}

static void *work(void *arg) {
	for (int i = 0; i < 80; i++) to_front(&items[(i * 3 + (long)arg) % 8]);
	return 0;
}

int main(void) {
	head.next = head.prev = &head;
	for (int i = 0; i < 8; i++) {
		struct item *x = &items[i];
		x->next = head.next, x->prev = &head;
		head.next->prev = x, head.next = x;
	}
	threads(2, work);
	return 0;
}
