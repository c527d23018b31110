// verdict: none
// flags: -O1
// Relaxed accesses where they are in order: of a thread's own index, of counters,
// of references taken, within a release sequence, and before a lock is tried.
#include <atomic>
#include <cstdio>
#include <thread>

struct node {
	std::atomic<int> refs{1};
	int value = 0;
};

static int ring[8];
static std::atomic<unsigned> head{0}, tail{0};
static std::atomic<long> sum{0};
static int before;
static std::atomic<int> stage{0};
static std::atomic<bool> locked{false};
static int guarded;

static void take(node *n) { n->refs.fetch_add(1, std::memory_order_relaxed); }

static void drop(node *n) {
	if (n->refs.fetch_sub(1, std::memory_order_acq_rel) == 1)
		delete n;
}

static void lock() {
	while (locked.exchange(true, std::memory_order_acquire))
		while (locked.load(std::memory_order_relaxed))
			std::this_thread::yield();
}

static void unlock() { locked.store(false, std::memory_order_release); }

static void produce(node *n) {
	n->value += 1;
	before = 7;
	stage.store(1, std::memory_order_release);
	for (int i = 0; i < 50; i++) {
		unsigned h = head.load(std::memory_order_relaxed);
		while (h - tail.load(std::memory_order_acquire) == 8)
			std::this_thread::yield();
		ring[h % 8] = i;
		head.store(h + 1, std::memory_order_release);
		lock();
		guarded++;
		unlock();
	}
	drop(n);
}

static void consume() {
	for (int i = 0; i < 50; i++) {
		unsigned t = tail.load(std::memory_order_relaxed);
		while (head.load(std::memory_order_acquire) == t)
			std::this_thread::yield();
		sum.fetch_add(ring[t % 8], std::memory_order_relaxed);
		tail.store(t + 1, std::memory_order_release);
		lock();
		guarded++;
		unlock();
	}
}

static void pass_on() {
	while (stage.load(std::memory_order_relaxed) != 1)
		std::this_thread::yield();
	stage.fetch_add(1, std::memory_order_relaxed);
}

static void last() {
	while (stage.load(std::memory_order_acquire) != 2)
		std::this_thread::yield();
	std::printf("%d\n", before);
}

int main() {
	node *n = new node;
	take(n);
	std::thread a(produce, n), b(consume), c(pass_on), d(last);
	d.join();
	a.join();
	b.join();
	c.join();
	std::printf("%ld %d\n", sum.load(std::memory_order_relaxed), guarded);
	drop(n);
}
