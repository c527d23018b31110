// The C++ library's threads.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <iomanip>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static thread_local std::string mine = "unset";

int main() {
	std::vector<std::thread> threads;
	std::mutex m;
	std::atomic<long> n{0};
	std::map<int, std::string> done;
	for (int i = 0; i < 4; i++)
		threads.emplace_back([&, i] {
			mine = "thread " + std::to_string(i);
			for (int k = 0; k < 1000; k++) n.fetch_add(k);
			std::lock_guard<std::mutex> l(m);
			done[i] = mine;
		});
	for (auto &t : threads) t.join();
	for (auto &d : done) std::cout << d.first << " " << d.second << "\n";
	std::cout << n << " " << mine << " " << std::setprecision(15) << 1.0 / 3 << "\n";

	auto f = std::async(std::launch::async, [] { return 6 * 7; });
	auto g = std::async(std::launch::async, []() -> int { throw std::runtime_error("thrown over there"); });
	std::cout << f.get() << "\n";
	try {
		g.get();
	} catch (std::exception &e) {
		std::cout << e.what() << "\n";
	}
	std::promise<int> p;
	std::thread t([&] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); p.set_value(5); });
	std::cout << p.get_future().get() << "\n";
	t.join();
	std::once_flag once;
	int calls = 0;
	std::condition_variable cv;
	bool ready = false;
	std::thread u([&] {
		std::call_once(once, [&] { calls++; });
		std::lock_guard<std::mutex> l(m);
		ready = true;
		cv.notify_all();
	});
	std::unique_lock<std::mutex> l(m);
	cv.wait(l, [&] { return ready; });
	std::call_once(once, [&] { calls++; });
	std::cout << "calls " << calls << " timeout "
	          << (cv.wait_for(l, std::chrono::milliseconds(5), [] { return false; }) ? "no" : "yes") << "\n";
	u.join();
	std::shared_mutex sm;
	std::shared_lock<std::shared_mutex> s1(sm), s2(sm);
	std::random_device rd;
	std::cout << "random " << (rd() != rd() || rd() != rd()) << " units " << (std::thread::hardware_concurrency() > 0) << std::endl;
	try {
		std::vector<int> v(3);
		v.at(10) = 1;
	} catch (std::out_of_range &e) {
		std::cout << "out of range\n";
	}
	return 3;
}
