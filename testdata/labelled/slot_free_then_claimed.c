// verdict: harmful
// one function asks whether a slot is free, another claims it: two may get the same slot
#include "threads.h"

static int owner[32];
static int lost[2];

static int is_free(int i) { return owner[i] == 0; }

static void claim(int i, int who) { owner[i] = who; }

static int reserve(int who) {
	for (int i = 0; i < 32; i++)
		if (is_free(i)) {
			claim(i, who);
			return i;
		}
	return -1;
}

static void *work(void *arg) {
	int who = 1 + (int)(long)arg, mine[16];
	for (int k = 0; k < 16; k++) mine[k] = reserve(who);
	for (int k = 0; k < 16; k++)
		if (mine[k] < 0 || owner[mine[k]] != who) lost[who - 1]++;
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%d reservations lost\n", lost[0] + lost[1]);
	return 0;
}
