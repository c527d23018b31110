// verdict: none
// flags: -O1
// Mutexes, conditions and semaphores that live shorter than the program: each is
// initialised before it is handed on, and destroyed by who uses it last; memory
// of one is used for the next.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int users, done, result;
};

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *pool;

static struct job *get(void) {
	pthread_mutex_lock(&pool_lock);
	struct job *j = pool;
	pool = NULL;
	pthread_mutex_unlock(&pool_lock);
	if (!j)
		j = malloc(sizeof *j);
	pthread_mutex_init(&j->lock, NULL);
	pthread_cond_init(&j->changed, NULL);
	j->users = 2;
	j->done = j->result = 0;
	return j;
}

static void drop(struct job *j) {
	pthread_mutex_lock(&j->lock);
	int left = --j->users;
	pthread_mutex_unlock(&j->lock);
	if (left > 0)
		return;
	pthread_mutex_destroy(&j->lock);
	pthread_cond_destroy(&j->changed);
	pthread_mutex_lock(&pool_lock);
	struct job *old = pool;
	pool = j;
	pthread_mutex_unlock(&pool_lock);
	free(old);
}

static void *run(void *arg) {
	struct job *j = arg;
	pthread_mutex_lock(&j->lock);
	j->result = 7;
	j->done = 1;
	pthread_cond_signal(&j->changed);
	pthread_mutex_unlock(&j->lock);
	drop(j);
	return NULL;
}

static void *post(void *arg) {
	sem_post(arg);
	return NULL;
}

static void *meet(void *arg) {
	pthread_barrier_wait(arg);
	return NULL;
}

int main(void) {
	int sum = 0;
	for (int i = 0; i < 4; i++) {
		struct job *j = get();
		pthread_t t, u, v;
		pthread_create(&t, NULL, run, j);
		pthread_mutex_lock(&j->lock);
		while (!j->done)
			pthread_cond_wait(&j->changed, &j->lock);
		sum += j->result;
		pthread_mutex_unlock(&j->lock);
		drop(j);
		sem_t s; // on the stack, where the next round's is, too
		sem_init(&s, 0, 0);
		pthread_create(&u, NULL, post, &s);
		sem_wait(&s);
		sem_destroy(&s);
		pthread_barrier_t b;
		pthread_barrier_init(&b, NULL, 2);
		pthread_create(&v, NULL, meet, &b);
		pthread_barrier_wait(&b);
		pthread_barrier_destroy(&b);
		pthread_join(t, NULL);
		pthread_join(u, NULL);
		pthread_join(v, NULL);
	}
	printf("%d\n", sum);
	return 0;
}
