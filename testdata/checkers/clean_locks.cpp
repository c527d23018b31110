// std::lock and scoped_lock take several mutexes without an order.
// findings: none
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::mutex a, b;
static std::shared_mutex s, t;
static std::recursive_mutex r;
static int n;

int main() {
	std::thread x([] {
		for (int i = 0; i < 50; i++) {
			std::scoped_lock l(a, b);
			std::lock_guard<std::recursive_mutex> g(r), h(r);
			n++;
		}
	});
	std::thread y([] {
		for (int i = 0; i < 50; i++) {
			std::scoped_lock l(b, a);
			n++;
		}
		std::shared_lock<std::shared_mutex> p(s), q(t);
	});
	{
		std::shared_lock<std::shared_mutex> p(t), q(s);
	}
	x.join();
	y.join();
	std::cout << n << '\n';
}
