// std::condition_variable, with and without a predicate.
// flags: -O1
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <chrono>

static std::mutex m;
static std::condition_variable c;
static bool ready;

static void careful() {
	std::unique_lock<std::mutex> l(m);
	c.wait(l, [] { return ready; });
}

static void looping() {
	std::unique_lock<std::mutex> l(m);
	while (!ready)
		c.wait(l);
}

static void careless() {
	std::unique_lock<std::mutex> l(m);
	if (!ready)
		c.wait(l); // finding: wait-without-loop
}

int main() {
	std::thread a(careful), b(looping), d(careless);
	std::this_thread::sleep_for(std::chrono::milliseconds(5));
	{
		std::lock_guard<std::mutex> l(m);
		ready = true;
		c.notify_all();
	}
	a.join();
	b.join();
	d.join();
	std::puts("done");
}
