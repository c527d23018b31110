// verdict: harmful
// a string is assigned while another thread copies it
#include <string>
#include <thread>

static std::string name = "somebody with a name that is too long to be kept inside";

static void renamed() {
	for (int i = 0; i < 20; i++) name = std::string(30 + i, 'a' + i);
}

static size_t length;

static void look() {
	for (int i = 0; i < 20; i++) {
		std::string copy = name;
		length += copy.size();
	}
}

int main() {
	std::thread a(renamed), b(look);
	a.join();
	b.join();
	return length == 0;
}
