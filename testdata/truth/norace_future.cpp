// verdict: none
// flags: -O1
#include <cstdio>
#include <future>
#include <numeric>
#include <vector>

int main() {
	std::vector<int> v(1000, 2);
	auto half = [&](int from, int to) { return std::accumulate(v.begin() + from, v.begin() + to, 0); };
	auto a = std::async(std::launch::async, half, 0, 500);
	auto b = std::async(std::launch::async, half, 500, 1000);
	std::printf("%d\n", a.get() + b.get());
}
