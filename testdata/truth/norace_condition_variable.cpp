// verdict: none
// flags: -O1
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <queue>
#include <thread>

static std::mutex mu;
static std::condition_variable cv;
static std::queue<int> q;

int main() {
	long sum = 0;
	std::thread c([&] {
		for (int i = 0; i < 200; i++) {
			std::unique_lock<std::mutex> l(mu);
			cv.wait(l, [] { return !q.empty(); });
			sum += q.front();
			q.pop();
		}
	});
	std::thread p([&] {
		for (int i = 0; i < 200; i++) {
			std::lock_guard<std::mutex> l(mu);
			q.push(i);
			cv.notify_one();
		}
	});
	p.join();
	c.join();
	std::printf("%ld\n", sum);
}
