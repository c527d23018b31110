// A number that nobody has set goes to a file.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct record { long id; long stamp; };

int main(void) {
	struct record *r = malloc(sizeof *r), out;
	r->id = 1;
	out.id = r->id;
	out.stamp = r->stamp; // finding: uninitialised-read
	int fd = open("/dev/null", O_WRONLY);
	if (write(fd, &out, sizeof out) != sizeof out)
		return 1;
	free(r);
	return 0;
}
