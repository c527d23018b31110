// verdict: harmful
// messages are to be numbered without a gap
#include "threads.h"

struct message { int number, from; };
static struct message log_[400];
static int last;

static void send(int from) {
	int n = last + 1;
	log_[n].number = n;
	log_[n].from = from;
	last = n;
}

static void *sender(void *arg) {
	for (int i = 0; i < 100; i++) send((int)(long)arg);
	return 0;
}

int main(void) {
	threads(3, sender);
	return last > 300;
}
