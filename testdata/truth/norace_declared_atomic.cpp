// verdict: none
// flags: -O2
// nobody waits for these variables, and no instruction is locked: only the
// source says that they are atomic
#include <atomic>
#include <cstdio>
#include <thread>

struct table {
	int size;
	int values[8];
};

static std::atomic<table *> current;
static std::atomic<bool> closing{false};
static table first = {1, {7}}, second = {8, {7, 7, 7, 7, 7, 7, 7, 7}};

int main()
{
	long sum = 0, rounds = 0;
	std::thread user([&] {
		for (int i = 0; i < 400; i++) {
			table *t = current.load(std::memory_order_acquire);
			if (!t)
				continue;
			for (int k = 0; k < t->size; k++)
				sum += t->values[k] != 7;
			rounds++;
			if (closing)
				break;
		}
	});
	first.values[0] = 7;
	current.store(&first, std::memory_order_release);
	for (int k = 0; k < 8; k++)
		second.values[k] = 7;
	current.store(&second, std::memory_order_release);
	closing.store(true, std::memory_order_release);
	user.join();
	std::printf("%ld\n", sum);
	return rounds < 0;
}
