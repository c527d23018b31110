// verdict: none
// flags: -O1
#include <cstdio>
#include <string>
#include <thread>

static const std::string &name() {
	static const std::string s = std::string("a name that is longer than the small buffer");
	return s;
}

int main() {
	size_t x = 0, y = 0;
	std::thread a([&] { x = name().size(); }), b([&] { y = name().size(); });
	a.join();
	b.join();
	std::printf("%d\n", int(x + y));
}
