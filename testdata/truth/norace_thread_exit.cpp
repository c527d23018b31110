// verdict: none
// flags: -O1
// A promise that is kept when its thread has ended, all but its last steps: by
// then the library drops what the two share, and who comes last frees it.
#include <cstdio>
#include <future>
#include <thread>

int main() {
	int sum = 0;
	for (int i = 0; i < 3; i++) {
		std::packaged_task<int(int)> task([](int n) { return n + 1; });
		std::future<int> result = task.get_future();
		std::thread([](std::packaged_task<int(int)> t, int n) { t.make_ready_at_thread_exit(n); }, std::move(task), i).detach();
		sum += result.get();
	}
	std::printf("%d\n", sum);
}
