// verdict: synchronisation
// race parcel: none
#include "threads.h"

static volatile int ready, taken;
static int parcel, got;

static void *giver(void *arg) {
	for (int i = 1; i <= 20; i++) {
		parcel = i;
		__asm__ volatile("" ::: "memory");
		ready = i;
		while (taken != i);
	}
	return 0;
}

static void *taker(void *arg) {
	for (int i = 1; i <= 20; i++) {
		while (ready != i);
		__asm__ volatile("" ::: "memory");
		got += parcel;
		__asm__ volatile("" ::: "memory");
		taken = i;
	}
	return 0;
}

int main(void) {
	both(giver, taker);
	printf("%d\n", got);
	return 0;
}
