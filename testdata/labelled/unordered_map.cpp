// verdict: harmful
// both insert into one hash table
#include <thread>
#include <unordered_map>

static std::unordered_map<int, int> m;

static void fill(int from) {
	for (int i = 0; i < 25; i++) m[from + 2 * i] = i;
}

int main() {
	std::thread a(fill, 0), b(fill, 1);
	a.join();
	b.join();
	return m.empty();
}
