// verdict: none
// flags: -O2
// a lock by hand, after Drepper's "Futexes Are Tricky": who has to wait looks
// at the word, and then exchanges it, before it sleeps
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int word;
static int total;

static void wait_for(void) {
	if (atomic_load_explicit(&word, memory_order_relaxed) == 2)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL);
	while (atomic_exchange(&word, 2) != 0)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL);
}

static void lock(void) {
	int none = 0;
	if (!atomic_compare_exchange_strong(&word, &none, 1))
		wait_for();
}

static void unlock(void) {
	if (atomic_exchange(&word, 0) == 2)
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
}

static void *work(void *arg) {
	for (int i = 0; i < 300; i++) {
		lock();
		for (volatile int k = 0; k < 20; k++)
			;
		total++;
		unlock();
	}
	return NULL;
}

int main(void) {
	pthread_t a, b, c;
	pthread_create(&a, NULL, work, NULL);
	pthread_create(&b, NULL, work, NULL);
	pthread_create(&c, NULL, work, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	pthread_join(c, NULL);
	printf("%d\n", total);
	return 0;
}
