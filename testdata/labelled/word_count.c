// verdict: harmful
// two threads count words in one table
#include "threads.h"

static struct { char word[8]; int n; } table[32];

static void count(const char *w) {
	unsigned h = 0;
	for (const char *p = w; *p; p++) h = h * 31 + *p;
	for (;; h++) {
		h %= 32;
		if (table[h].n == 0) {
			strcpy(table[h].word, w);
			table[h].n = 1;
			return;
		}
		if (!strcmp(table[h].word, w)) {
			table[h].n++;
			return;
		}
	}
}

static void *work(void *arg) {
	static const char *words[] = {"one", "two", "three", "four", "five"};
	for (int i = 0; i < 100; i++) count(words[(i * 3 + (long)arg) % 5]);
	return 0;
}

int main(void) {
	threads(2, work);
	return 0;
}
