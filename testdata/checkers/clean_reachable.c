// Blocks that something still points to at the end are not lost: from globals,
// the stack of main, another thread's stack, mapped memory, other blocks, and
// pointers into the middle.
// findings: none
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct node { struct node *next; char pad[40]; };

static struct node *list;
static char *middle;
static char **table;
static __thread char *local;
static int ready;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void *waiter(void *arg) {
	char *mine = malloc(77);
	mine[0] = 1;
	local = malloc(33);
	local[0] = 2;
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	for (;;)
		pause();
	return mine;
}

int main(void) {
	char *onstack = malloc(99);
	onstack[0] = 3;
	for (int i = 0; i < 5; i++) {
		struct node *n = calloc(1, sizeof *n);
		n->next = list;
		list = n;
	}
	middle = (char *)malloc(200) + 64;
	*middle = 4;
	table = malloc(8 * sizeof *table);
	for (int i = 0; i < 8; i++) {
		table[i] = malloc(16);
		table[i][0] = i;
	}
	char **map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	map[100] = malloc(55);
	map[100][0] = 5;
	pthread_t t;
	pthread_create(&t, NULL, waiter, NULL);
	pthread_mutex_lock(&m);
	while (!ready)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	exit(onstack[0] != 3);
}
