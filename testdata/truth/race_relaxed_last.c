// verdict: harmful
// flags: -O1
// Of references that are given up by relaxed decrements, the last one doesn't come
// after what the others did to the block.
#include <pthread.h>
#include <stdlib.h>

struct job {
	int refs, state;
};

static void drop(struct job *j) {
	if (__atomic_sub_fetch(&j->refs, 1, __ATOMIC_RELAXED) == 0)
		free(j);
}

static void *work(void *arg) {
	struct job *j = arg;
	j->state = 1;
	drop(j);
	return NULL;
}

int main(void) {
	struct job *j = calloc(1, sizeof *j);
	j->refs = 2;
	pthread_t t;
	pthread_create(&t, NULL, work, j);
	drop(j);
	pthread_join(t, NULL);
	return 0;
}
