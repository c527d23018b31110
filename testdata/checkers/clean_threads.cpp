// Threads, futures and shared objects of the C++ library.
// flags: -O2
// findings: none
#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

class pool {
	std::vector<std::thread> ts;
	std::queue<std::function<void()>> q;
	std::mutex m;
	std::condition_variable c;
	bool stop = false;

public:
	explicit pool(int n) {
		for (int i = 0; i < n; i++)
			ts.emplace_back([this] {
				for (;;) {
					std::function<void()> f;
					{
						std::unique_lock<std::mutex> l(m);
						c.wait(l, [this] { return stop || !q.empty(); });
						if (q.empty())
							return;
						f = std::move(q.front());
						q.pop();
					}
					f();
				}
			});
	}
	void run(std::function<void()> f) {
		{
			std::lock_guard<std::mutex> l(m);
			q.push(std::move(f));
		}
		c.notify_one();
	}
	~pool() {
		{
			std::lock_guard<std::mutex> l(m);
			stop = true;
		}
		c.notify_all();
		for (auto &t : ts)
			t.join();
	}
};

int main() {
	std::atomic<long> sum{0};
	auto text = std::make_shared<std::string>(200, 'a');
	{
		pool p(3);
		for (int i = 0; i < 60; i++) {
			auto v = std::make_shared<std::vector<int>>(i, 1);
			p.run([v, text, &sum] {
				std::string copy = *text;
				for (int x : *v)
					sum += x;
				sum += copy.size() == 200;
			});
		}
	}
	auto f = std::async(std::launch::async, [text] { return text->substr(3, 100); });
	std::promise<std::unique_ptr<int>> pr;
	auto g = pr.get_future();
	std::thread t([&] { pr.set_value(std::make_unique<int>(7)); });
	std::cout << sum << ' ' << f.get().size() << ' ' << *g.get() << '\n';
	t.join();
	try {
		std::async(std::launch::async, []() -> int { throw std::runtime_error("no"); }).get();
	} catch (std::exception &e) {
		std::cout << e.what() << '\n';
	}
}
