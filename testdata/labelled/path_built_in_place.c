// verdict: harmful
// two requests build their paths in one buffer
#include "threads.h"

static char path[64];
static int wrong;

static void open_for(const char *user) {
	strcpy(path, "/home/");
	strcat(path, user);
	strcat(path, "/.profile");
	if (!strstr(path, user)) __sync_fetch_and_add(&wrong, 1);
}

static void *work(void *arg) {
	for (int i = 0; i < 40; i++) open_for((long)arg ? "grace" : "ada");
	return 0;
}

int main(void) {
	threads(2, work);
	return 0;
}
