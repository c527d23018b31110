// verdict: harmful
// both take the one message: it is freed twice, or used by two
#include <memory>
#include <thread>

struct Message { int body[4]; };

static std::unique_ptr<Message> inbox;
static int got[2];

static void take(int me) {
	for (int i = 0; i < 20; i++) {
		if (inbox) {
			std::unique_ptr<Message> m = std::move(inbox);
			if (m) got[me] += m->body[0];
		} else if (me == 0) {
			inbox = std::make_unique<Message>();
			inbox->body[0] = 1;
		}
		std::this_thread::yield();
	}
}

int main() {
	std::thread a(take, 0), b(take, 1);
	a.join();
	b.join();
	return got[0] + got[1] > 40;
}
