// verdict: harmful
// flags: -O2
// accounts are added up while money moves between them; both functions are
// inlined, so that the loops around the accesses are all that is left of them
#include <pthread.h>
#include <stdio.h>

static long account[6] = {10, 10, 10, 10, 10, 10};
int wrong;

static void move(int from, int to, long n) {
	account[from] -= n;
	account[to] += n;
}

static void audit(void) {
	long sum = 0;
	for (int i = 0; i < 6; i++)
		sum += account[i];
	if (sum != 60)
		wrong++;
}

static void *mover(void *arg) {
	for (int i = 0; i < 80; i++)
		move(i % 6, (i * 5 + 1) % 6, 3);
	return NULL;
}

static void *auditor(void *arg) {
	for (int i = 0; i < 80; i++) {
		audit();
		__asm__ volatile("" ::: "memory");
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, mover, NULL);
	pthread_create(&b, NULL, auditor, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts(wrong >= 0 ? "audited" : "overflow");
	return 0;
}
