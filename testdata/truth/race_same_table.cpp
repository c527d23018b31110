// verdict: benign
// flags: -O1
// The destructor waits until nobody uses the object any more. Before that it
// stores the pointer to its class's virtual functions, which is there already:
// the same value, this time.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

struct task {
	std::mutex lock;
	std::condition_variable changed;
	bool done = false;
	virtual int result() { return 0; }
	virtual ~task() {}
	void finish() {
		std::lock_guard<std::mutex> l(lock);
		done = true;
		changed.notify_one();
	}
};

struct job : task {
	int result() override { return 7; }
	~job() override {
		std::unique_lock<std::mutex> l(lock);
		changed.wait(l, [this] { return done; });
	}
};

static int got;

int main() {
	task *volatile t = new job;
	std::thread user([t] {
		got = t->result();
		t->finish();
	});
	delete t;
	user.join();
	std::printf("%d\n", got);
}
