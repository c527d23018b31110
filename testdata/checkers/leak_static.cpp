// A static C++ program: strings and containers come and go, one object stays.
// flags: -static -O1
#include <iostream>
#include <map>
#include <string>
#include <vector>

struct entry {
	std::string name;
	std::vector<int> hits;
};

__attribute__((noinline)) static size_t work(int n) {
	std::map<std::string, entry> m;
	for (int i = 0; i < n; i++) {
		std::string key = "a key of more than sixteen bytes " + std::to_string(i % 7);
		m[key].name = key;
		m[key].hits.push_back(i);
	}
	entry *e = new entry; // finding: leak
	e->name = "lost together with its characters";
	return m.size() + e->name.size();
}

int main() {
	std::cout << work(50) << '\n';
}
