// verdict: none
// flags: -O1
#include <cstdio>
#include <mutex>
#include <thread>

static std::once_flag flag;
static int value;

static void use(int *out) {
	std::call_once(flag, [] { value = 99; });
	*out = value;
}

int main() {
	int x = 0, y = 0;
	std::thread a(use, &x), b(use, &y);
	a.join();
	b.join();
	std::printf("%d\n", x + y);
}
