// verdict: benign
// the object is filled in before its pointer is stored, and stores come in order on this processor
#include "threads.h"

struct settings { int width, height; char title[16]; };

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct settings *volatile settings;

static struct settings *get(void) {
	struct settings *s = settings;
	if (s) return s;
	pthread_mutex_lock(&mu);
	if (!settings) {
		s = malloc(sizeof *s);
		s->width = 640;
		s->height = 480;
		strcpy(s->title, "window");
		__asm__ volatile("" ::: "memory");
		settings = s;
	}
	s = settings;
	pthread_mutex_unlock(&mu);
	return s;
}

static long areas[3];

static void *draw(void *arg) {
	for (int i = 0; i < 40; i++) areas[(long)arg] += get()->width * get()->height;
	return 0;
}

int main(void) {
	threads(3, draw);
	printf("%ld\n", areas[0] + areas[1] + areas[2]);
	return 0;
}
