// verdict: harmful
// two threads write to one string stream: its buffer is moved and its ends are lost
#include <sstream>
#include <thread>

static std::ostringstream out;

static void write(char c) {
	for (int i = 0; i < 40; i++) out << c << i << '\n';
}

int main() {
	std::thread a(write, 'a'), b(write, 'b');
	a.join();
	b.join();
	return out.str().size() > 4000;
}
