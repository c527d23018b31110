// verdict: harmful
// an array of pointers grows while both add to it
#include "threads.h"

static int **list;
static int n, room;

static void add(int *p) {
	if (n == room) {
		room = room ? 2 * room : 4;
		list = realloc(list, room * sizeof *list);
	}
	list[n++] = p;
}

static void *work(void *arg) {
	static int cell[2];
	for (int i = 0; i < 30; i++) add(&cell[(long)arg]);
	return 0;
}

int main(void) {
	threads(2, work);
	return 0;
}
