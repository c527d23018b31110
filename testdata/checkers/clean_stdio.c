// What the C library allocates for itself isn't the program's leak, and what
// it gives away is freed here.
// findings: none
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(void) {
	FILE *f = tmpfile();
	fprintf(f, "one %d\ntwo %s\n%f\n", 1, "2", 3.5);
	rewind(f);
	char *line = NULL;
	size_t n = 0;
	int lines = 0;
	while (getline(&line, &n, f) > 0)
		lines++;
	free(line);
	fclose(f);
	FILE *open = fopen("/dev/null", "w");
	fputs("never closed\n", open);
	int *a = malloc(100 * sizeof *a);
	for (int i = 0; i < 100; i++)
		a[i] = i * 37 % 101;
	qsort(a, 100, sizeof *a, cmp);
	char *s = NULL;
	if (asprintf(&s, "%d %d", a[0], a[99]) < 0)
		return 1;
	printf("%d lines, %s\n", lines, s);
	free(s);
	free(a);
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	time_t now = 0;
	struct tm tm;
	gmtime_r(&now, &tm);
	char buf[64];
	strftime(buf, sizeof buf, "%Y-%m-%d", &tm);
	puts(buf);
	return 0;
}
