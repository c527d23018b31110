// verdict: harmful
// a tree is rebalanced by two threads
#include <map>
#include <thread>

static std::map<int, int> ages;

static void fill(int from) {
	for (int i = 0; i < 30; i++) ages[from + i * 2] = i;
}

int main() {
	std::thread a(fill, 0), b(fill, 1);
	a.join();
	b.join();
	return ages.empty();
}
