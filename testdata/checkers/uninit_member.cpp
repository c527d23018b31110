// A constructor forgets a member; the object is copied before it is used.
#include <cstdio>
#include <memory>
#include <vector>

struct account {
	long id;
	long balance;
	bool frozen;
	explicit account(long i) : id(i), balance(0) {}
};

int main() {
	auto a = std::make_unique<account>(1);
	if (a->frozen) // finding: uninitialised-read
		std::puts("frozen");
	std::printf("%ld\n", a->id + a->balance);
}
