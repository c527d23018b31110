// verdict: harmful
// flags: -O2
// money is under way between two accounts while another thread adds them up
#include <pthread.h>
#include <stdio.h>

static volatile long a = 1000, b = 1000;
static long wrong;

static void *transfer(void *arg) {
	for (int i = 0; i < 300; i++) {
		a -= 5;
		b += 5;
	}
	return NULL;
}

static void *audit(void *arg) {
	for (int i = 0; i < 300; i++)
		if (a + b != 2000)
			wrong++;
	return NULL;
}

int main(void) {
	pthread_t t, u;
	pthread_create(&t, NULL, transfer, NULL);
	pthread_create(&u, NULL, audit, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	puts("audited");
	return 0;
}
