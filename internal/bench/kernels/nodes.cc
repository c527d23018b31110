// Threads make lists, maps and strings, pass them on through a queue and free
// what the others made. The argument is the number of accesses, about: those of
// the allocator aren't counted.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using Job = std::unique_ptr<std::map<int, std::string>>;

static std::mutex lock;
static std::condition_variable ready;
static std::deque<Job> queue;
static int makers = 2;

static void make(int seed, int jobs)
{
	unsigned x = seed;
	for (int j = 0; j < jobs; j++) {
		auto m = std::make_unique<std::map<int, std::string>>();
		for (int i = 0; i < 64; i++) {
			x = x * 1664525 + 1013904223;
			(*m)[x >> 20] = std::string(16 + (x >> 28), 'a' + (x >> 27));
		}
		std::unique_lock<std::mutex> l(lock);
		queue.push_back(std::move(m));
		ready.notify_one();
	}
	std::unique_lock<std::mutex> l(lock);
	makers--;
	ready.notify_all();
}

static void use(long *total)
{
	for (;;) {
		Job m;
		{
			std::unique_lock<std::mutex> l(lock);
			ready.wait(l, [] { return !queue.empty() || makers == 0; });
			if (queue.empty())
				return;
			m = std::move(queue.front());
			queue.pop_front();
		}
		for (auto &e : *m)
			for (char c : e.second)
				*total += c * e.first;
	}
}

int main(int argc, char **argv)
{
	const long perJob = 64 * 60; // a map of 64 short strings, made, read and freed
	int jobs = (argc > 1 ? atol(argv[1]) : 100000000) / perJob / 2 + 1;
	long total[2] = {};
	std::vector<std::thread> ts;
	for (int i = 0; i < 2; i++)
		ts.emplace_back(make, i + 1, jobs);
	for (int i = 0; i < 2; i++)
		ts.emplace_back(use, &total[i]);
	for (auto &t : ts)
		t.join();
	printf("%ld accesses, sum %ld\n", jobs * 2 * perJob, total[0] + total[1]);
}
