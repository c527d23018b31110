// verdict: benign
// a sampler looks at a gauge that others set; each sample is one of its values
#include <mutex>
#include <thread>

static volatile int gauge;
static int histogram[8];

static void set() {
	for (int i = 0; i < 200; i++) gauge = i % 8;
}

static void sample() {
	for (int i = 0; i < 50; i++) histogram[gauge]++;
}

int main() {
	std::thread a(set), b(sample);
	a.join();
	b.join();
	int n = 0;
	for (int h : histogram) n += h;
	return n != 50;
}
