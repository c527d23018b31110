// verdict: benign
// both fill the table with the same numbers
#include "threads.h"

static unsigned crc[256];

static void fill(void) {
	for (unsigned i = 0; i < 256; i++) {
		unsigned c = i;
		for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
		crc[i] = c;
	}
}

static void *work(void *arg) {
	fill();
	return 0;
}

int main(void) {
	threads(2, work);
	printf("%08x\n", crc[255]);
	return 0;
}
