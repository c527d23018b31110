// verdict: harmful
// the session goes when its owner has had enough of it, and the pinger may still use it
#include <atomic>
#include <thread>
#include <chrono>

struct Session {
	int pings = 0;
	char name[20] = "session";
};
static Session *session = new Session;
static std::atomic<int> go;

static void ping() {
	go = 1;
	for (int i = 0; i < 30; i++) session->pings++;
}

int main() {
	std::thread t(ping);
	while (!go) std::this_thread::yield();
	delete session;
	t.join();
	return 0;
}
