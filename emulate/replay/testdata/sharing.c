// Processes that pull at the same memory: atomics, a lock, plain stores, in
// memory mapped before the fork and in a file that each maps by itself.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
	pthread_mutex_t lock;
	int atomic, locked, plain;
};

int main(void) {
	pthread_mutexattr_t at;
	pthread_mutexattr_init(&at);
	pthread_mutexattr_setpshared(&at, PTHREAD_PROCESS_SHARED);
	struct shared *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutex_init(&s->lock, &at);
	int fd = memfd_create("shared", 0);
	ftruncate(fd, 8192);
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			mmap(NULL, 4096 * (i + 1), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			int *f = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			for (int k = 0; k < 300; k++) {
				__atomic_add_fetch(&s->atomic, 1, __ATOMIC_SEQ_CST);
				pthread_mutex_lock(&s->lock);
				s->locked++;
				pthread_mutex_unlock(&s->lock);
				s->plain++;
				__atomic_add_fetch(&f[1000], 1, __ATOMIC_SEQ_CST);
			}
			_exit(0);
		}
	while (wait(NULL) > 0) {
	}
	int *f = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
	char line[100]; // printf would ask for the file's times
	int n = sprintf(line, "%d %d %d %d\n", s->atomic, s->locked, s->plain <= 900, f[1000]);
	return write(1, line, n) != n;
}
