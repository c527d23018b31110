// verdict: benign
// flags: -O1 -fno-builtin
// A string is cut while another thread looks for its end: what functions on
// strings load counts up to and with the byte that ends it. Either length will do.
#include <pthread.h>
#include <string.h>

static char text[64] __attribute__((aligned(64)));
static unsigned long length;

static void *reader(void *arg) {
	length = strlen(text + 3);
	return NULL;
}

static void *writer(void *arg) {
	text[9] = 0;
	return NULL;
}

int main(void) {
	pthread_t a, b;
	memset(text, 'a', 30);
	pthread_create(&a, NULL, reader, NULL);
	pthread_create(&b, NULL, writer, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return length != 6 && length != 27;
}
