// verdict: none
// flags: -O1
// Workers of a pool wait for a condition; std::condition_variable::wait jumps to
// what waits.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>
#include <cstdio>
struct Pool {
	std::mutex m;
	std::condition_variable cv;
	int items = 0, taken = 0;
	bool stop = false;
	std::vector<std::thread> ts;
	Pool(int n) {
		for (int i = 0; i < n; i++)
			ts.emplace_back([this] { work(); });
	}
	void work() {
		for (;;) {
			std::unique_lock<std::mutex> l(m);
			cv.wait(l, [this] { return stop || items > 0; });
			if (items == 0)
				return;
			items--;
			taken++;
		}
	}
	void add() {
		{
			std::lock_guard<std::mutex> l(m);
			items++;
		}
		cv.notify_one();
	}
	~Pool() {
		{
			std::lock_guard<std::mutex> l(m);
			stop = true;
		}
		cv.notify_all();
		for (auto &t : ts)
			t.join();
		std::printf("%d\n", taken);
	}
};
int main() {
	Pool p(3);
	for (int i = 0; i < 40; i++)
		p.add();
}
