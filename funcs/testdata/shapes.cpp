// C++ names: namespaces, templates, static members, lambdas, exceptions.
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace geo {
struct Base { int id; virtual ~Base() {} virtual double area() const { return id; } };
struct Rect : Base {
	double w, h;
	static int made;
	Rect(double a, double b) : w(a), h(b) { made++; }
	double area() const override { return w * h; }
};
int Rect::made;
namespace { int quiet; }
template <typename T> __attribute__((noinline)) T total(const std::vector<T> &v)
{
	T sum{};
	for (auto &x : v)
		sum += x;
	quiet++;
	return sum;
}
}

geo::Rect unit(1, 2);
std::mutex mu;
std::vector<int> items;

__attribute__((noinline)) void thrower(int n)
{
	if (n > 1)
		throw std::runtime_error("n");
	items.push_back(n);
}

int main()
{
	std::thread t([] {
		std::lock_guard<std::mutex> g(mu);
		for (int i = 0; i < 10; i++)
			items.push_back(i);
	});
	t.join();
	try {
		thrower(2);
	} catch (std::exception &e) {
		std::printf("%s %d %f\n", e.what(), geo::total(items), unit.area());
	}
	std::string s = "x";
	s += std::to_string(geo::quiet);
	return s.size() > 10;
}
