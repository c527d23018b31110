// Two threads sort halves by heap sort; then they are merged and hashed.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 600000 };
static unsigned v[N], out[N];

static void down(unsigned *h, int i, int n)
{
	for (;;) {
		int c = 2 * i + 1;
		if (c >= n)
			return;
		if (c + 1 < n && h[c + 1] > h[c])
			c++;
		if (h[i] >= h[c])
			return;
		unsigned t = h[i];
		h[i] = h[c];
		h[c] = t;
		i = c;
	}
}

static void *sort(void *arg)
{
	unsigned *h = arg;
	int n = N / 2;
	for (int i = n / 2; i >= 0; i--)
		down(h, i, n);
	for (int e = n - 1; e > 0; e--) {
		unsigned t = h[0];
		h[0] = h[e];
		h[e] = t;
		down(h, 0, e);
	}
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	unsigned x = 12345, sum = 0;
	for (int i = 0; i < N; i++) {
		x = x * 1664525 + 1013904223;
		v[i] = x;
	}
	pthread_create(&a, NULL, sort, v);
	pthread_create(&b, NULL, sort, v + N / 2);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	for (int i = 0, j = N / 2, k = 0; k < N; k++)
		out[k] = j >= N || (i < N / 2 && v[i] < v[j]) ? v[i++] : v[j++];
	for (int i = 0; i < N; i++)
		sum = sum * 31 + out[i];
	printf("%u\n", sum);
	return 0;
}
