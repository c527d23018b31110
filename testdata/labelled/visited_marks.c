// verdict: benign
// a mark may be set twice, and the work behind it is done twice, with the same outcome
#include "threads.h"

static char visited[64];
static int area[64];

static void visit(int i) {
	if (visited[i]) return;
	visited[i] = 1;
	area[i] = i * i;
}

static void *walk(void *arg) {
	for (int i = 0; i < 64; i++) visit((i * 5 + (int)(long)arg) % 64);
	return 0;
}

int main(void) {
	threads(2, walk);
	int sum = 0;
	for (int i = 0; i < 64; i++) sum += area[i];
	printf("%d\n", sum);
	return 0;
}
