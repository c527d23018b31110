// verdict: harmful
// a worker may connect to the new host at the old port
#include "threads.h"

static struct { char host[16]; int port; } server = {"alpha", 1000};
static int wrong;

static void *reload(void *arg) {
	for (int i = 0; i < 60; i++) {
		memcpy(server.host, i % 2 ? "alpha" : "gamma", 6);
		__asm__ volatile("" ::: "memory");
		server.port = i % 2 ? 1000 : 3000;
	}
	return 0;
}

static void connect_to(const char *host, int port) {
	if ((host[0] == 'a') != (port == 1000)) wrong++;
}

static void *work(void *arg) {
	for (int i = 0; i < 60; i++) {
		char host[16];
		strcpy(host, server.host);
		connect_to(host, server.port);
	}
	return 0;
}

int main(void) {
	both(reload, work);
	printf("%d wrong connections\n", wrong);
	return 0;
}
