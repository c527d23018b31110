// verdict: harmful
// the pool's stack of free objects has no lock
#include <thread>
#include <vector>

struct Buffer { int owner = 0; };
static Buffer all[16];
static std::vector<Buffer *> pool;

static void use(int me) {
	for (int i = 0; i < 30; i++) {
		if (pool.empty()) continue;
		Buffer *b = pool.back();
		pool.pop_back();
		b->owner = me;
		pool.push_back(b);
	}
}

int main() {
	pool.reserve(32);
	for (Buffer &b : all) pool.push_back(&b);
	std::thread a(use, 1), b(use, 2);
	a.join();
	b.join();
	return 0;
}
