// verdict: none
// flags: -O2
// Each thread writes its part; who counts last, by an atomic instruction, takes
// all of it. Then the other has done its part, whoever it is.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int done;
static int part[2], total;

static void finish(void) {
	if (atomic_fetch_add(&done, 1) == 1)
		total = part[0] + part[1];
}

static void *early(void *unused) {
	part[0] = 3;
	finish();
	return unused;
}

static void *late(void *unused) {
	usleep(3000);
	part[1] = 7;
	finish();
	return unused;
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, early, NULL);
	pthread_create(&b, NULL, late, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", total);
	return 0;
}
