// verdict: harmful
// who comes first is to own the thing, and the loser believes that it does
#include "threads.h"

static int owner[40];
static int owned[3];

static void *claim(void *arg) {
	int me = (int)(long)arg + 1;
	for (int i = 0; i < 40; i++)
		if (owner[i] == 0) {
			owner[i] = me;
			owned[me]++;
		}
	return 0;
}

int main(void) {
	threads(2, claim);
	return owned[1] + owned[2] < 40;
}
