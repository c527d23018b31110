// An array from new[] isn't cleared; one from new[]() is.
#include <cstdio>

static int largest(const int *a, int n) {
	int m = -1;
	for (int i = 0; i < n; i++)
		if (a[i] > m) // finding: uninitialised-read
			m = a[i];
	return m;
}

int main() {
	int *zero = new int[32]();
	int *raw = new int[32];
	std::printf("%d\n", largest(zero, 32));
	raw[0] = 100000;
	std::printf("%d\n", largest(raw, 32) >= 0);
	delete[] zero;
	delete[] raw;
}
