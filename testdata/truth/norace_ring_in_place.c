// verdict: synchronisation
// flags: -O2
// The owner of an index moves it by one instruction that reads and writes it.
#include <pthread.h>
#include <stdio.h>

static volatile unsigned head, tail;
static int slot[4], sum;

static void advance(volatile unsigned *index) {
	__asm__ volatile("addl $1, %0" : "+m"(*index) : : "memory", "cc");
}

static void *producer(void *unused) {
	for (int i = 1; i <= 30; i++) {
		while (head - tail == 4)
			;
		slot[head % 4] = i;
		advance(&head);
	}
	return unused;
}

static void *consumer(void *unused) {
	for (int i = 1; i <= 30; i++) {
		while (head == tail)
			;
		sum += slot[tail % 4];
		advance(&tail);
	}
	return unused;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, producer, NULL);
	pthread_create(&b, NULL, consumer, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", sum);
	return 0;
}
