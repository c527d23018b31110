// verdict: harmful
// flags: -O1
#include <cstdio>
#include <thread>
#include <vector>

static std::vector<int> items;

static void fill(int n) {
	for (int i = 0; i < n; i++)
		items.push_back(i);
}

int main() {
	items.reserve(4096); // so that the run itself survives
	std::thread a(fill, 600), b(fill, 600);
	a.join();
	b.join();
	std::printf("%d\n", items.size() <= 1200);
}
