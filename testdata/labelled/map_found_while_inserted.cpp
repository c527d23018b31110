// verdict: harmful
// a name is looked up in a table that another thread adds to, which moves its buckets
#include <string>
#include <thread>
#include <unordered_map>

static std::unordered_map<int, std::string> names;
static int hits;

static void learn() {
	for (int i = 0; i < 60; i++) names.emplace(i * 7, "name " + std::to_string(i));
}

static void look() {
	for (int i = 0; i < 60; i++) {
		auto it = names.find(i * 7);
		if (it != names.end() && it->second.size() > 5) hits++;
	}
}

int main() {
	std::thread a(learn), b(look);
	a.join();
	b.join();
	return hits > 60;
}
