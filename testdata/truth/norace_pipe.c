// verdict: none
// flags: -O1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int fd[2];
static int message[4];

static void *sender(void *arg) {
	for (int i = 0; i < 4; i++)
		message[i] = i * i;
	if (write(fd[1], "x", 1) != 1)
		abort();
	return NULL;
}

static void *receiver(void *arg) {
	char c;
	int sum = 0;
	if (read(fd[0], &c, 1) != 1)
		abort();
	for (int i = 0; i < 4; i++)
		sum += message[i];
	printf("%d\n", sum);
	return NULL;
}

int main(void) {
	pthread_t a, b;
	if (pipe(fd))
		return 2;
	pthread_create(&a, NULL, receiver, NULL);
	pthread_create(&b, NULL, sender, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
