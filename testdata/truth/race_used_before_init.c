// verdict: harmful
// flags: -O1
// the thread uses a pointer that its creator sets after creating it
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct session { int id; int hits; };
static struct session *session;

static void *serve(void *arg) {
	usleep(200000);
	session->hits += 2;
	return NULL;
}

int main(void) {
	pthread_t t;
	pthread_create(&t, NULL, serve, NULL);
	struct session *s = calloc(1, sizeof *s);
	s->id = 7;
	session = s;
	pthread_join(t, NULL);
	printf("%d\n", session->hits);
	return 0;
}
