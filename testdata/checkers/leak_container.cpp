// A vector of owning pointers is cleared without deleting what they point to.
#include <map>
#include <string>
#include <vector>

struct item {
	std::string name;
	int n;
};

static void work() {
	std::vector<item *> v;
	std::map<int, std::string> m;
	for (int i = 0; i < 20; i++) {
		v.push_back(new item{std::string(40, 'a' + i), i}); // finding: leak
		m[i] = std::string(100, 'x');
	}
	v.clear();
}

int main() {
	work();
	return 0;
}
