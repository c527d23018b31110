// A reference into a vector outlives a push_back that moves the elements.
#include <cstdio>
#include <vector>

int main() {
	std::vector<int> v{1, 2, 3, 4};
	v.shrink_to_fit();
	int &first = v[0];
	for (int i = 0; i < 100; i++)
		v.push_back(i);
	first = 10; // finding: use-after-free
	std::printf("%zu\n", v.size());
}
