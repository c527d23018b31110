// verdict: harmful
// flags: -O1
// What one thread makes of an element that is too old goes through all the
// elements after it, of which only the last one is put out.
#include <pthread.h>
#include <stdio.h>

static long a[300];

static void *work(void *half) {
	int from = half ? 150 : 1;
	for (int i = from; i < from + 149; i++)
		a[i] += a[i - 1] % 7;
	return NULL;
}

int main(void) {
	pthread_t t[2];
	a[0] = 1;
	for (int i = 1; i < 300; i++)
		a[i] = i;
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	fprintf(stderr, "%ld\n", a[298]);
	puts("done");
	return 0;
}
