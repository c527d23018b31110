// One thread frees what another still uses; a pipe orders them.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct job { long id; long result[6]; };

static int p[2];

static void *worker(void *arg) {
	struct job *j = arg;
	char c;
	j->result[0] = j->id * 2;
	if (read(p[0], &c, 1) != 1)
		return NULL;
	j->result[1] = 5; // finding: use-after-free
	return NULL;
}

int main(void) {
	if (pipe(p))
		return 1;
	struct job *j = malloc(sizeof *j);
	j->id = 7;
	for (int i = 0; i < 6; i++)
		j->result[i] = 0;
	pthread_t t;
	pthread_create(&t, NULL, worker, j);
	usleep(1000);
	free(j);
	if (write(p[1], "x", 1) != 1)
		return 1;
	pthread_join(t, NULL);
	puts("done");
	return 0;
}
