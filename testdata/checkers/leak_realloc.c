// A growing array isn't given back at the end of the function that grew it.
#include <stdlib.h>

static long fill(int n) {
	long *a = NULL, sum = 0;
	int cap = 0;
	for (int i = 0; i < n; i++) {
		if (i == cap) {
			cap = cap ? 2 * cap : 4;
			a = realloc(a, cap * sizeof *a); // finding: leak
		}
		a[i] = i;
	}
	for (int i = 0; i < n; i++)
		sum += a[i];
	return sum;
}

int main(void) {
	return fill(1000) != 499500;
}
