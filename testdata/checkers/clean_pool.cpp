// Classes that allocate their objects themselves, and placement new.
// findings: none
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

struct point {
	double x, y;
	point *next;
	static point *unused;
	static void *operator new(size_t n) {
		if (!unused) {
			auto *block = static_cast<point *>(std::malloc(64 * sizeof(point)));
			for (int i = 0; i < 64; i++) {
				block[i].next = unused;
				unused = &block[i];
			}
		}
		point *p = unused;
		unused = p->next;
		return p;
	}
	static void operator delete(void *v) {
		auto *p = static_cast<point *>(v);
		p->next = unused;
		unused = p;
	}
	point(double a, double b) : x(a), y(b) {}
};
point *point::unused;

struct alignas(64) line {
	long v[8];
};

int main() {
	std::vector<point *> ps;
	double sum = 0;
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 100; i++)
			ps.push_back(new point(i, -i));
		for (auto *p : ps) {
			sum += p->x - p->y;
			delete p;
		}
		ps.clear();
	}
	line *l = new line();
	l->v[3] = 5;
	sum += l->v[3] + l->v[0];
	delete l;
	void *raw = std::malloc(sizeof(point) * 3);
	auto *q = ::new (raw) point(1, 2);
	sum += q->x;
	q->~point();
	std::free(raw);
	std::printf("%.0f\n", sum);
}
