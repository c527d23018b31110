// verdict: benign
// how many lines are there so far is shown to the user; memory was reserved, so that nothing moves
#include <cstdio>
#include <thread>
#include <vector>
#include <unistd.h>

static std::vector<int> lines;

static void parse() {
	for (int i = 0; i < 200; i++) lines.push_back(i * i);
}

static void show() {
	char text[64];
	for (int i = 0; i < 6; i++) {
		int n = std::snprintf(text, sizeof text, "\r%zu lines so far", lines.size());
		if (write(2, text, n) < 0) return;
		std::this_thread::yield();
	}
}

int main() {
	lines.reserve(256);
	std::thread a(parse), b(show);
	a.join();
	b.join();
	std::printf("%zu lines\n", lines.size());
}
