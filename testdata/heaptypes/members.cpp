// Two threads change members of what the library, and new, allocated.
#include <cstdio>
#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace app {
struct point {
	int x, y;
};
struct shape {
	virtual ~shape() {}
	int sides = 0;
	point at{};
};
} // namespace app

int main() {
	std::vector<app::point> v(4);
	auto s = std::make_unique<app::shape>();
	auto sh = std::make_shared<app::point>();
	app::shape *arr = new app::shape[3];
	std::map<int, app::point> m;
	m[3].y = 0;
	auto f = [&] {
		for (int i = 0; i < 20; i++) {
			v[2].y++;
			s->at.x++;
			sh->y++;
			arr[1].sides++;
			m[3].y++;
		}
	};
	std::thread a(f), b(f);
	a.join();
	b.join();
	std::printf("done\n");
	delete[] arr;
}
