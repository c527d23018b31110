// verdict: harmful
// elements are bits: neighbours share a word
#include <thread>
#include <vector>

static std::vector<bool> seen(128);

static void mark(int from) {
	for (int i = from; i < 128; i += 2) seen[i] = true;
}

int main() {
	std::thread a(mark, 0), b(mark, 1);
	a.join();
	b.join();
	return 0;
}
