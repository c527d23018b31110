// verdict: harmful
// sessions are erased from a map while another thread walks through it
#include <map>
#include <thread>

static std::map<int, int> sessions;
static long seen;

static void expire() {
	for (int i = 0; i < 60; i += 2) sessions.erase(i);
}

static void report() {
	for (auto it = sessions.begin(); it != sessions.end(); ++it) seen += it->second;
}

int main() {
	for (int i = 0; i < 60; i++) sessions[i] = i;
	std::thread a(report), b(expire);
	a.join();
	b.join();
	return seen < 0;
}
