// verdict: harmful
// flags: -O1
// checker: +mismatched-free
// how a buffer is freed depends on a flag that is set meanwhile
#include <pthread.h>
#include <stdio.h>

static char *volatile buffer;
static int many;

static __attribute__((noinline)) void drop() {
	char *b = buffer;
	buffer = nullptr;
	if (many)
		delete[] b;
	else
		delete b;
}

static void *set(void *) {
	for (volatile int k = 0; k < 20000; k++)
		;
	many = 1;
	return nullptr;
}

static void *work(void *) {
	drop();
	return nullptr;
}

int main() {
	pthread_t a, b;
	buffer = new char;
	pthread_create(&a, nullptr, set, nullptr);
	pthread_create(&b, nullptr, work, nullptr);
	pthread_join(a, nullptr);
	pthread_join(b, nullptr);
	printf("done\n");
}
