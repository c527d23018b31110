// Exceptions leave frames behind; names are C++'s.
// stack: shop::Till<int>::add shop::serve
// never: fail
#include <stdexcept>
#include <thread>
namespace shop {
template <class T> struct Till {
	T sum = 0;
	int n = 0;
	__attribute__((noinline)) void add(T x) { sum += x; n++; }
};
static Till<int> till;
static volatile int sink;
__attribute__((noinline)) static void fail(int n)
{
	if (n == 0)
		throw std::runtime_error("closed");
	fail(n - 1);
	sink = n;
}
__attribute__((noinline)) static void serve(int i)
{
	try {
		fail(3);
	} catch (const std::exception &) {
		till.add(i);
		sink = i;
	}
}
} // namespace shop
int main()
{
	auto run = [] {
		for (int i = 0; i < 10; i++) {
			shop::serve(i);
			shop::sink = i;
		}
	};
	std::thread a(run), b(run);
	a.join();
	b.join();
	return shop::till.n == 0;
}
