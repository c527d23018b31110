// verdict: benign
// an unlocked look at the length serves to reserve enough, or nearly
#include "threads.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static volatile int length;
static int values[256], copied;

static void *add(void *arg) {
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&mu);
		values[length] = 1;
		length = length + 1;
		pthread_mutex_unlock(&mu);
	}
	return 0;
}

static void *snapshot(void *arg) {
	for (int i = 0; i < 10; i++) {
		int room = length + 16;
		int *copy = malloc(room * sizeof *copy);
		pthread_mutex_lock(&mu);
		if (length > room) {
			room = length;
			copy = realloc(copy, room * sizeof *copy);
		}
		memcpy(copy, values, length * sizeof *copy);
		copied = length;
		pthread_mutex_unlock(&mu);
		free(copy);
	}
	return 0;
}

int main(void) {
	both(add, snapshot);
	return copied > 100;
}
