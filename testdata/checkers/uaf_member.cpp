// A callback keeps a pointer to an object that a unique_ptr has deleted.
// flags: -O1
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

struct session {
	long id;
	long hits = 0;
	long last = 0;
	explicit session(long i) : id(i) {}
	__attribute__((noinline)) void touch() {
		last++; // finding: use-after-free
	}
};

int main() {
	auto s = std::make_unique<session>(3);
	std::function<void()> f = [p = s.get()] { p->touch(); };
	f();
	std::printf("%ld\n", s->last);
	s.reset();
	f();
	return 0;
}
