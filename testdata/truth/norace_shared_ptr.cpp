// verdict: none
// flags: -O1
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

int main() {
	auto p = std::make_shared<std::vector<int>>(100, 3);
	long x = 0, y = 0;
	std::thread a([p, &x] { for (int v : *p) x += v; });
	std::thread b([p, &y] { for (int v : *p) y += v; });
	p.reset();
	a.join();
	b.join();
	std::printf("%ld\n", x + y);
}
