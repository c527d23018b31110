// verdict: benign
// flags: -O1
// A sampler takes what the gauge is at the moment. That the whole of one thread
// and the whole of the other don't mix is nothing to expect.
#include <cstdio>
#include <thread>

static volatile int gauge;
static volatile int counted[4];

static void set() {
	for (int i = 0; i < 120; i++) gauge = i % 4;
}

static void sample() {
	for (int i = 0; i < 40; i++) {
		int now = gauge;
		counted[now] = counted[now] + 1;
	}
}

int main() {
	std::thread a(set), b(sample);
	a.join();
	b.join();
	std::puts("sampled");
}
