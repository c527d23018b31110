// verdict: none
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex mu;
static std::condition_variable cv;
static std::deque<std::function<void()>> tasks;
static bool closed;

static void worker() {
	for (;;) {
		std::unique_lock<std::mutex> l(mu);
		cv.wait(l, [] { return closed || !tasks.empty(); });
		if (tasks.empty()) return;
		auto f = std::move(tasks.front());
		tasks.pop_front();
		l.unlock();
		f();
	}
}

int main() {
	std::vector<int> out(20);
	std::thread a(worker), b(worker);
	for (int i = 0; i < 20; i++) {
		std::lock_guard<std::mutex> l(mu);
		tasks.push_back([&out, i] { out[i] = i * i; });
		cv.notify_one();
	}
	{
		std::lock_guard<std::mutex> l(mu);
		closed = true;
		cv.notify_all();
	}
	a.join();
	b.join();
	int sum = 0;
	for (int v : out) sum += v;
	std::printf("%d\n", sum);
	return 0;
}
