// Descriptors whose numbers get lost, beside ones that somebody still knows.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int log_fd;
static int *table;

static int size_of(const char *name) {
	char b[64];
	int fd = open(name, O_RDONLY); // finding: descriptor-leak
	if (fd < 0)
		return -1;
	if (read(fd, b, sizeof b) != 0)
		return 1;
	close(fd);
	return 0;
}

static int open_log(void) { return log_fd = open("/dev/null", O_WRONLY); }
static int event(void) { return eventfd(0, 0); } // finding: descriptor-leak
static void fill(int *t) { t[1] = dup(1); }

int main(void) {
	int n = 0, kept = open("/dev/zero", O_RDONLY), pair[2];
	table = malloc(2 * sizeof *table);
	for (int i = 0; i < 3; i++)
		n += size_of("/dev/zero");
	n += size_of("/dev/null");
	open_log();
	event();
	fill(table);
	if (pipe(pair))
		return 1;
	int s = 0;
	for (int i = 0; i < 2; i++)
		s = socket(AF_INET, SOCK_STREAM, 0); // finding: descriptor-leak
	close(s);
	printf("%d %d\n", n, kept >= 0 && write(pair[1], "x", 1) == 1);
	free(table);
	return 0;
}
