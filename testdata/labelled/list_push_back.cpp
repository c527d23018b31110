// verdict: harmful
// nodes get lost and the size is wrong
#include <list>
#include <thread>

static std::list<int> jobs;

static void add(int from) {
	for (int i = 0; i < 25; i++) jobs.push_back(from + i);
}

int main() {
	std::thread a(add, 0), b(add, 100);
	a.join();
	b.join();
	return jobs.empty();
}
