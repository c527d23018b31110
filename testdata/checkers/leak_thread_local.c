// Only a thread-local variable of a thread that ended pointed to the block.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static __thread char *scratch;

static void *run(void *arg) {
	scratch = malloc(1000); // finding: leak
	memset(scratch, 7, 1000);
	return NULL;
}

int main(void) {
	for (int i = 0; i < 3; i++) {
		pthread_t t;
		pthread_create(&t, NULL, run, NULL);
		pthread_join(t, NULL);
	}
	return 0;
}
