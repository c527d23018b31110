// verdict: harmful
// both append to one buffer: text is lost and mixed
#include "threads.h"

static char text[4096];
static int used;

static void append(const char *s) {
	int n = strlen(s);
	memcpy(text + used, s, n);
	used += n;
}

static void *left(void *arg) {
	for (int i = 0; i < 60; i++) append("left ");
	return 0;
}

static void *right(void *arg) {
	for (int i = 0; i < 60; i++) append("right ");
	return 0;
}

int main(void) {
	both(left, right);
	text[used] = 0;
	return strlen(text) > 4000;
}
