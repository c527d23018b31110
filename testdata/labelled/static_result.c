// verdict: harmful
// a function returns a pointer to its static buffer
#include "threads.h"

static char *hex(unsigned v) {
	static char out[9];
	for (int i = 7; i >= 0; i--, v >>= 4) out[i] = "0123456789abcdef"[v & 15];
	return out;
}

static int wrong[2];

static void *work(void *arg) {
	long me = (long)arg;
	unsigned v = me ? 0xdeadbeef : 0x12345678;
	for (int i = 0; i < 40; i++)
		if (strcmp(hex(v), me ? "deadbeef" : "12345678")) wrong[me]++;
	return 0;
}

int main(void) {
	threads(2, work);
	return 0;
}
