// verdict: harmful
// flags: -O1
#include <cstdio>
#include <thread>

struct Stats {
	int max = 0, where = -1;
	void see(int v, int at) {
		if (v > max) {
			max = v;
			where = at;
		}
	}
};

int main() {
	Stats s;
	std::thread a([&] { for (int i = 0; i < 800; i++) s.see(2 * i, i); });
	std::thread b([&] { for (int i = 0; i < 800; i++) s.see(2 * i + 1, 10000 + i); });
	a.join();
	b.join();
	std::printf("%d\n", s.max > 0);
}
