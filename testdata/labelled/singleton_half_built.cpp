// verdict: harmful
// the pointer may be seen before what it points to is filled in, and two may be made
#include <thread>
#include <vector>

struct Registry {
	std::vector<int> ids;
	int ready = 0;
};
static Registry *instance;

static Registry *get() {
	if (!instance) {
		instance = new Registry;
		for (int i = 0; i < 20; i++) instance->ids.push_back(i);
		instance->ready = 1;
	}
	return instance;
}

static int sums[2];

static void use(int me) {
	for (int i = 0; i < 10; i++) sums[me] += get()->ready;
}

int main() {
	std::thread a(use, 0), b(use, 1);
	a.join();
	b.join();
	return 0;
}
