// verdict: benign
// an iteration that comes to the same end whatever neighbours it sees
#include "threads.h"

static int label_[40];

static void *spread(void *arg) {
	for (int round = 0; round < 60; round++)
		for (int i = 1 + (int)(long)arg; i < 40; i += 2)
			if (label_[i] < label_[i - 1]) label_[i] = label_[i - 1];
	return 0;
}

int main(void) {
	label_[0] = 9;
	threads(2, spread);
	for (int i = 1; i < 40; i++)
		if (label_[i] < label_[i - 1]) label_[i] = label_[i - 1];
	int sum = 0;
	for (int i = 0; i < 40; i++) sum += label_[i];
	printf("%d\n", sum);
	return 0;
}
