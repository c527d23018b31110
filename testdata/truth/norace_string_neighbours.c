// verdict: none
// flags: -O1
// One thread changes the bytes around a string that another thread looks at:
// functions on strings load them, and don't use them.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct record {
	char before[8];
	char name[8];
	char after[112];
} __attribute__((aligned(64)));

static struct record *r;
static int sum;

static void *reader(void *arg) {
	char copy[64];
	for (int i = 0; i < 40; i++) {
		char *s = r->name;
		sum += strlen(s) + strnlen(s, 7);
		sum += strchr(s, 'n') != NULL;
		sum += strrchr(s, 'a') != NULL;
		sum += memchr(s, 'z', 5) != NULL;
		sum += strcmp(s, "banana") == 0;
		sum += strncmp(s, "bandit", 6) == 0;
		sum += strcasecmp("BANANA", s) == 0;
		strcpy(copy, s);
		strcat(copy, s);
		free(strdup(s));
		sum += copy[0];
	}
	return NULL;
}

static void *writer(void *arg) {
	for (int i = 0; i < 400; i++) {
		r->before[i % 8]++;
		r->after[i % 112]++;
	}
	return NULL;
}

int main(void) {
	pthread_t a, b;
	r = aligned_alloc(64, sizeof *r);
	memset(r, 0, sizeof *r);
	strcpy(r->name, "banana");
	pthread_create(&a, NULL, reader, NULL);
	pthread_create(&b, NULL, writer, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
