// A shop in small: functions of many kinds, called often by three threads.
#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#define KEEP __attribute__((noinline))

struct Item {
	int id;
	int stock;
	double price;
	std::string name;
};

struct Order {
	int item;
	int count;
	Order *next;
};

static std::mutex mu;
static std::map<int, Item> items;
static Order *orders;
static long sold, refused;
static double income;

struct Random {
	unsigned long s;
	KEEP unsigned next() {
		s ^= s << 13, s ^= s >> 7, s ^= s << 17;
		return s >> 11;
	}
};

KEEP static int pick(Random &r) { return r.next() % 50; }

KEEP static double discount(int count, double price) {
	if (count > 8) return price * 0.8;
	if (count > 3) return price * 0.95;
	return price;
}

KEEP static int take(Item &i, int count) {
	if (i.stock < count) return -1;
	i.stock -= count;
	return i.stock;
}

KEEP static Order *note(int item, int count) {
	Order *o = new Order{item, count, orders};
	orders = o;
	return o;
}

KEEP static unsigned hash(const std::string &s) {
	unsigned h = 5381;
	for (unsigned char c : s) h = h * 33 + c;
	return h;
}

KEEP static int compare(const Item &a, const Item &b) { return a.price < b.price ? -1 : a.price > b.price; }

KEEP static void restock(Item &i) {
	if (i.stock < 5) i.stock += 40;
}

KEEP static bool buy(Random &r) {
	int id = pick(r), count = 1 + r.next() % 10;
	std::lock_guard<std::mutex> l(mu);
	Item &i = items[id];
	if (take(i, count) < 0) {
		refused++;
		restock(i);
		return false;
	}
	note(id, count);
	sold += count;
	income += discount(count, i.price) * count;
	return true;
}

KEEP static size_t label(char *out, size_t n, const Item &i) {
	return std::snprintf(out, n, "%s #%d: %.2f", i.name.c_str(), i.id, i.price);
}

static unsigned digests[3];

static void customer(int me) {
	Random r{88172645463325252ul + me * 7919ul};
	for (int k = 0; k < 250; k++) {
		if (!buy(r)) continue;
		std::lock_guard<std::mutex> l(mu);
		const Item &a = items[pick(r)], &b = items[pick(r)];
		char text[64];
		label(text, sizeof text, compare(a, b) < 0 ? a : b);
		digests[me] += hash(text);
	}
}

int main() {
	for (int i = 0; i < 50; i++) items[i] = Item{i, 20 + i % 7, 1.5 * (i + 1), "thing " + std::to_string(i * i)};
	std::vector<std::thread> ts;
	for (int i = 0; i < 3; i++) ts.emplace_back(customer, i);
	for (auto &t : ts) t.join();
	int n = 0;
	for (Order *o = orders; o; o = o->next) n++;
	std::printf("%d orders\n", n);
	return sold < n || income < 0;
}
