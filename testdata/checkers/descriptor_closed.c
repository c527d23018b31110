// A descriptor is used and closed again after it was closed. Closing whatever
// there is, and asking, are in order.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
	int fd = open("/dev/null", O_WRONLY), other = open("/dev/zero", O_RDONLY);
	close(other);
	close(fd);
	int bad = 0;
	if (write(fd, "x", 1) < 0) // finding: use-after-close
		bad += errno == EBADF;
	if (close(fd) < 0) // finding: use-after-close
		bad += errno == EBADF;
	if (fcntl(other, F_GETFD) < 0)
		bad += errno == EBADF;
	for (int i = 3; i < 20; i++)
		close(i);
	printf("%d\n", bad);
	return 0;
}
