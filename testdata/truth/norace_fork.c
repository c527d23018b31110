// verdict: none
// flags: -O1
// Other processes beside threads: a forked one that works on shared memory
// while nobody else does, one that executes another program, and one that
// changes its own copy of what the threads use.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static int *shared;

static void *add(void *arg) {
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&lock);
		total++;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_create(&a, NULL, add, NULL);
	pthread_create(&b, NULL, add, NULL);
	for (int i = 1; i <= 3; i++) {
		int before = *shared;
		pid_t p = fork();
		if (p == 0) {
			total = -1000;
			*shared += i;
			_exit(i);
		}
		int st;
		if (waitpid(p, &st, 0) != p || WEXITSTATUS(st) != i || *shared != before + i) return 1;
	}
	FILE *f = popen("echo from a shell", "r");
	char line[100];
	if (f == NULL || fgets(line, sizeof line, f) == NULL) return 2;
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d %d %s%d\n", total, *shared, line, pclose(f));
	return 0;
}
