// verdict: benign
// an entry is marked as removed and never reused; a search that doesn't see the mark yet came before it
#include "threads.h"

static struct { int key; volatile char gone; } entries[50];
static int found;

static void *sweep(void *arg) {
	for (int i = 0; i < 50; i += 3) entries[i].gone = 1;
	return 0;
}

static void *search(void *arg) {
	for (int k = 0; k < 8; k++)
		for (int i = 0; i < 50; i++)
			if (!entries[i].gone && entries[i].key == 40) found++;
	return 0;
}

int main(void) {
	for (int i = 0; i < 50; i++) entries[i].key = i;
	both(sweep, search);
	printf("%d\n", found > 0);
	return 0;
}
