// verdict: none
// flags: -O1
// What one thread wrote to a file before, the thread that reads the file can
// rely on, although each has opened it by itself.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char name[] = "/tmp/norace_fileXXXXXX";
static int out, in, result;

static void *producer(void *arg) {
	result = 42;
	if (write(out, "done", 4) != 4) abort();
	return NULL;
}

static void *consumer(void *arg) {
	char b[4];
	while (read(in, b, sizeof b) == 0) usleep(1000);
	return (void *)(long)result;
}

int main(void) {
	pthread_t a, b;
	void *r;
	out = mkstemp(name);
	in = open(name, O_RDONLY);
	unlink(name);
	pthread_create(&b, NULL, consumer, NULL);
	usleep(3000);
	pthread_create(&a, NULL, producer, NULL);
	pthread_join(a, NULL);
	pthread_join(b, &r);
	return (long)r != 42;
}
