// verdict: harmful
// flags: -O1
// a setting that comes too late or not; what is made of it, main prints
#include <pthread.h>
#include <stdio.h>

static int rate = 1;
static long total;

static __attribute__((noinline)) void compute(void) {
	total = 40 + rate;
}

static void *configure(void *arg) {
	for (volatile int k = 0; k < 200; k++)
		;
	rate = 3;
	return NULL;
}

static void *work(void *arg) {
	compute();
	return NULL;
}

static void show(void) {
	printf("%s\n", total > 0 ? "positive" : "negative");
	FILE *f = fopen("/dev/null", "w");
	fprintf(f, "%ld\n", total);
	fclose(f);
}

int main(void) {
	pthread_t a, b;
	pthread_create(&a, NULL, configure, NULL);
	pthread_create(&b, NULL, work, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	show();
	return 0;
}
