// verdict: benign
// several threads may reach a node in one step, and all write the same distance
// flags: -fopenmp
#include <stdio.h>

enum { N = 200 };
static int dist[N];

int main(void) {
	for (int i = 1; i < N; i++) dist[i] = -1;
	for (int level = 0; level < 12; level++) {
#pragma omp parallel for num_threads(2)
		for (int u = 0; u < N; u++) {
			if (dist[u] != level) continue;
			for (int k = 1; k <= 3; k++) {
				int v = (u * 2 + k) % N;
				if (dist[v] < 0) dist[v] = level + 1;
			}
		}
	}
	int sum = 0;
	for (int i = 0; i < N; i++) sum += dist[i];
	printf("%d\n", sum);
	return 0;
}
