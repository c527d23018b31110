// verdict: synchronisation
// race slots: none
#include "threads.h"

static int slots[8], sum;
static volatile unsigned head, tail;

static void *producer(void *arg) {
	for (int i = 1; i <= 100; i++) {
		while (tail - head == 8);
		__asm__ volatile("" ::: "memory");
		slots[tail % 8] = i;
		__asm__ volatile("" ::: "memory");
		tail = tail + 1;
	}
	return 0;
}

static void *consumer(void *arg) {
	for (int i = 1; i <= 100; i++) {
		while (tail == head);
		__asm__ volatile("" ::: "memory");
		sum += slots[head % 8];
		__asm__ volatile("" ::: "memory");
		head = head + 1;
	}
	return 0;
}

int main(void) {
	both(producer, consumer);
	printf("%d\n", sum);
	return 0;
}
