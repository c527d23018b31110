// verdict: harmful
// elements are read while the vector grows and moves
#include <thread>
#include <vector>

static std::vector<int> values(4, 7);

static void grow() {
	for (int i = 0; i < 60; i++) values.push_back(7);
}

static long sum;

static void read() {
	for (int i = 0; i < 60; i++)
		for (int k = 0; k < 4; k++) sum += values[k];
}

int main() {
	std::thread a(grow), b(read);
	a.join();
	b.join();
	return sum < 0;
}
