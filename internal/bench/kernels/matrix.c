// Integer matrix product by two threads, rows in turn.
#include <pthread.h>
#include <stdio.h>

enum { N = 220 };
static int a[N][N], b[N][N], c[N][N];

static void *rows(void *arg)
{
	for (int i = (int)(long)arg; i < N; i += 2)
		for (int j = 0; j < N; j++) {
			int s = 0;
			for (int k = 0; k < N; k++)
				s += a[i][k] * b[k][j];
			c[i][j] = s;
		}
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	unsigned sum = 0;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			a[i][j] = i * 3 + j;
			b[i][j] = i ^ j;
		}
	for (int round = 0; round < 8; round++) {
		for (long i = 0; i < 2; i++)
			pthread_create(&t[i], NULL, rows, (void *)i);
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
		for (int i = 0; i < N; i++)
			sum = sum * 31 + c[i][(i * 7) % N];
	}
	printf("%u\n", sum);
	return 0;
}
