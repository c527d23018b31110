// verdict: harmful
// the counter in a shared_ptr is atomic, the pointer isn't
#include <memory>
#include <thread>

static std::shared_ptr<int> current = std::make_shared<int>(1);
static long sum;

static void replace() {
	for (int i = 0; i < 30; i++) current = std::make_shared<int>(i);
}

static void use() {
	for (int i = 0; i < 30; i++) {
		std::shared_ptr<int> mine = current;
		sum += *mine;
	}
}

int main() {
	std::thread a(replace), b(use);
	a.join();
	b.join();
	return sum < 0;
}
