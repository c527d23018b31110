// flags: -O1
// What a relaxed store publishes isn't ordered by it, though this processor does
// not reorder the stores.
#include <atomic>
#include <cstdio>
#include <thread>

static int table[4];
static std::atomic<bool> ready{false};

int main() {
	std::thread a([] {
		for (int i = 0; i < 4; i++)
			table[i] = 10 * i;
		ready.store(true, std::memory_order_relaxed);
	});
	std::thread b([] {
		while (!ready.load(std::memory_order_relaxed))
			std::this_thread::yield();
		std::printf("%d\n", table[3]);
	});
	a.join();
	b.join();
}
