// A view into a string that is gone.
#include <iostream>
#include <string>
#include <string_view>

static std::string_view name(int n) {
	std::string s = "a name that is too long for the small buffer " + std::to_string(n);
	return s;
}

int main() {
	std::string_view v = name(3);
	int spaces = 0;
	for (size_t i = 0; i < v.size(); i++)
		spaces += v.data()[i] == ' '; // finding: use-after-free
	std::cout << (spaces > 100) << '\n';
}
