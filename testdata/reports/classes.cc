// Bases, members of bases, static members, templates.
// variable: stock.uses
// variable: stock.prices[2]
// variable: Shelf::open
#include <thread>
struct Counted {
	long uses = 0;
	__attribute__((noinline)) void use() { uses++; }
};
struct Named {
	const char *name = "";
	virtual ~Named() {}
};
struct Shelf : Named, Counted {
	static int open;
	int prices[4] = {};
	__attribute__((noinline)) void set(int i)
	{
		prices[2] += i;
		open += i;
	}
};
int Shelf::open;
static Shelf stock;

int main()
{
	auto run = [] {
		for (int i = 0; i < 20; i++) {
			stock.use();
			stock.set(i);
		}
	};
	std::thread a(run), b(run);
	a.join();
	b.join();
	return stock.uses == 0;
}
