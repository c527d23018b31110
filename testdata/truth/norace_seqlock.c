// verdict: synchronisation
// race left: benign
// race right: benign
// flags: -O2
// the payload is read while it is written and thrown away
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdatomic.h>

static atomic_uint seq;
static int left, right;
static int bad;

static void *writer(void *arg) {
	for (int i = 1; i < 200; i++) {
		atomic_fetch_add(&seq, 1);
		*(volatile int *)&left = i;
		*(volatile int *)&right = -i;
		atomic_fetch_add(&seq, 1);
	}
	return NULL;
}

static void *reader(void *arg) {
	for (int i = 0; i < 200; i++) {
		unsigned s;
		int l, r;
		do {
			while ((s = atomic_load_explicit(&seq, memory_order_acquire)) & 1)
				;
			l = *(volatile int *)&left;
			r = *(volatile int *)&right;
		} while (atomic_load_explicit(&seq, memory_order_acquire) != s);
		bad += l + r != 0;
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", bad);
	return 0;
}
