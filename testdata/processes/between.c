// Memory that processes share, in many ways. What races is marked.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
	pthread_mutex_t lock;
	sem_t done;
	int locked, piped, posted, killed, system_v, before, racing, flag;
};

static int own; // each process has its own

int main(void) {
	pthread_mutexattr_t at;
	pthread_mutexattr_init(&at);
	pthread_mutexattr_setpshared(&at, PTHREAD_PROCESS_SHARED);
	struct shared *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutex_init(&s->lock, &at);
	sem_init(&s->done, 1, 0);
	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600), sem = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600), p[2], sum;
	int *v = shmat(id, NULL, 0);
	int fd = memfd_create("file", 0);
	ftruncate(fd, 4096);
	pipe(p);
	s->before = 1;
	own = 1;
	pid_t a = fork();
	if (a == 0) {
		int *f = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		own += s->before;
		s->racing++;    // race
		f[3] = own;     // race
		pthread_mutex_lock(&s->lock);
		s->locked++;
		pthread_mutex_unlock(&s->lock);
		s->piped = 1;
		write(p[1], "x", 1);
		s->posted = 1;
		sem_post(&s->done);
		v[0] = 7;
		struct sembuf up = {0, 1, 0};
		semop(sem, &up, 1);
		s->killed = 3;
		raise(SIGKILL);
	}
	pid_t b = fork();
	if (b == 0) {
		own += s->before;
		int *f = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		s->racing++;    // race
		sum = f[3];     // race
		pthread_mutex_lock(&s->lock);
		s->locked++;
		pthread_mutex_unlock(&s->lock);
		_exit(sum > 100);
	}
	own++;
	char c;
	read(p[0], &c, 1);
	sum = s->piped;
	sem_wait(&s->done);
	sum += s->posted;
	struct sembuf down = {0, -1, 0};
	semop(sem, &down, 1);
	sum += v[0];
	waitpid(a, NULL, 0);
	sum += s->killed;
	waitpid(b, NULL, 0);
	sum += s->locked;
	printf("%d %d\n", sum, own);
	shmctl(id, IPC_RMID, NULL);
	semctl(sem, 0, IPC_RMID);
	return 0;
}
