// verdict: none
// flags: -O1
// epoll_wait says that something was written; nobody reads it.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int value, event, set;

static void *wait_for_it(void *unused) {
	struct epoll_event e;
	epoll_wait(set, &e, 1, -1);
	value++;
	return unused;
}

int main(void) {
	event = eventfd(0, 0);
	set = epoll_create1(0);
	struct epoll_event e = {EPOLLIN};
	epoll_ctl(set, EPOLL_CTL_ADD, event, &e);
	pthread_t t;
	pthread_create(&t, 0, wait_for_it, 0);
	value = 4;
	uint64_t one = 1;
	write(event, &one, sizeof one);
	pthread_join(t, 0);
	printf("%d\n", value);
	return 0;
}
