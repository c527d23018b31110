// verdict: harmful
// the log is closed and opened anew while another thread may be writing to the old one
#include "threads.h"

static FILE *logfile;

static void *work(void *arg) {
	for (int i = 0; i < 30; i++) {
		fprintf(logfile, "request %d\n", i);
		if (i % 5 == 0) sched_yield();
	}
	return 0;
}

static void *rotate(void *arg) {
	for (int i = 0; i < 3; i++) {
		FILE *old = logfile;
		logfile = fopen("/dev/null", "w");
		sched_yield();
		fclose(old);
	}
	return 0;
}

int main(void) {
	logfile = fopen("/dev/null", "w");
	both(work, rotate);
	fclose(logfile);
	return 0;
}
