// verdict: none
// flags: -O1
// Atomic loads and stores that acquire, release or do neither are plain
// instructions; nobody waits for them here, so that no experiment tells what
// they are for. The source does.
#include <atomic>
#include <cstdio>
#include <thread>

struct message {
	int words[8];
};
static std::atomic<message *> slot{nullptr};
static std::atomic<int> progress{0};

struct counters {
	std::atomic<int> a{0};
	std::atomic<long> b{0};
};

int main() {
	auto *c = new counters;
	std::thread t([c] {
		for (int i = 0; i < 100; i++) {
			progress.store(i, std::memory_order_relaxed);
			c->a.store(i, std::memory_order_release);
			c->b.store(-i, std::memory_order_release);
		}
		auto *m = new message;
		for (int i = 0; i < 8; i++)
			m->words[i] = i;
		slot.store(m, std::memory_order_release);
	});
	int bad = 0, last = 0;
	for (int i = 0; i < 200; i++) {
		int p = progress.load(std::memory_order_relaxed);
		bad += p < last;
		last = p;
		bad += c->a.load(std::memory_order_acquire) < 0 || c->b.load(std::memory_order_acquire) > 0;
		if (message *m = slot.load(std::memory_order_acquire))
			for (int k = 0; k < 8; k++)
				bad += m->words[k] != k;
	}
	t.join();
	delete slot.load();
	delete c;
	printf("%d\n", bad);
}
