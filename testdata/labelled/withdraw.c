// verdict: harmful
// two withdrawals see the same balance
#include "threads.h"

static long balance = 500;
static int denied;

static int withdraw(long amount) {
	if (balance < amount) return -1;
	for (volatile int k = 0; k < 3; k++);
	balance -= amount;
	return 0;
}

static void *work(void *arg) {
	for (int i = 0; i < 80; i++)
		if (withdraw(5) < 0) __sync_fetch_and_add(&denied, 1);
	return 0;
}

int main(void) {
	threads(2, work);
	return 0;
}
