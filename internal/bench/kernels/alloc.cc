// Two threads build and take down maps, strings and lists: mostly the allocator.
#include <cstdio>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

static unsigned long work(unsigned seed)
{
	unsigned long sum = 0;
	unsigned x = seed;
	auto next = [&x] { return x = x * 1664525 + 1013904223; };
	for (int round = 0; round < 12; round++) {
		std::map<unsigned, std::string> names;
		std::list<std::unique_ptr<std::vector<int>>> rows;
		for (int i = 0; i < 6000; i++) {
			unsigned k = next() >> 18;
			names[k] += std::to_string(k * 7919UL);
			if (i % 3 == 0)
				rows.push_back(std::make_unique<std::vector<int>>(k % 40, i));
			if (i % 5 == 0 && !rows.empty())
				rows.pop_front();
			if (i % 7 == 0)
				names.erase(next() >> 18);
		}
		for (auto &n : names)
			sum = sum * 31 + n.second.size() + n.first;
		for (auto &r : rows)
			sum += r->size();
	}
	return sum;
}

int main()
{
	unsigned long r[2];
	std::thread a([&] { r[0] = work(1); }), b([&] { r[1] = work(2); });
	a.join();
	b.join();
	std::printf("%lu %lu\n", r[0], r[1]);
}
