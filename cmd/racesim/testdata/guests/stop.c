// Does what isn't supported, after a line of output: an AVX instruction, a
// system call that doesn't exist, a fork, or a wait of all threads for ever.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	puts("before");
	fflush(stdout);
	if (strcmp(argv[1], "instruction") == 0)
		__asm__ volatile("vpaddd %zmm0, %zmm1, %zmm2");
	else if (strcmp(argv[1], "syscall") == 0)
		syscall(9999);
	else if (strcmp(argv[1], "fork") == 0)
		fork();
	else {
		static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
		pthread_mutex_lock(&m);
		pthread_mutex_lock(&m);
	}
	puts("after");
	return 0;
}
