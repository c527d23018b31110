// Plays ping-pong with another process by a file that both have mapped: word 0 is
// this one's, word 16 the other's; each round also sums a block that the other
// fills. Without argument the file is mapped before the other opens it.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
	int fd = open(argv[1], O_RDWR);
	volatile uint32_t *w = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (w == MAP_FAILED) return 1;
	uint32_t sum = w[16] + w[1024];
	puts("mapped");
	fflush(stdout);
	for (uint32_t i = 1; i <= 200; i++) {
		w[0] = i;
		while (w[16] != i) {
			struct timespec t = {0, 1000};
			if (i % 2) nanosleep(&t, 0);
		}
		for (int k = 0; k < 512; k++) sum = sum * 31 + w[1024 + k];
		sum += __sync_add_and_fetch(&w[32], 1);
	}
	printf("%u %u\n", sum, w[32]);
}
