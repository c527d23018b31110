// Containers, strings and smart pointers, used as they should be.
// findings: none
#include <algorithm>
#include <deque>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

struct point {
	char tag;
	double x, y;
};

struct maybe {
	std::optional<long> n;
	std::variant<int, double, std::string> v;
};

int main() {
	std::vector<std::string> words;
	for (int i = 0; i < 200; i++)
		words.push_back("word " + std::to_string(i * 7919 % 200));
	std::sort(words.begin(), words.end());
	std::map<std::string, int> count;
	std::unordered_map<std::string, std::vector<int>> index;
	for (size_t i = 0; i < words.size(); i++) {
		count[words[i].substr(0, 6)]++;
		index[words[i]].push_back(i);
	}
	std::vector<point> ps;
	for (int i = 0; i < 50; i++)
		ps.push_back({'p', i * 0.5, -i * 0.25});
	std::vector<point> qs = ps;
	std::vector<maybe> ms(20);
	for (size_t i = 0; i < ms.size(); i += 2) {
		ms[i].n = i;
		ms[i].v = std::string("text");
	}
	std::vector<maybe> ns = ms;
	std::deque<std::unique_ptr<int>> dq;
	for (int i = 0; i < 100; i++)
		dq.push_back(std::make_unique<int>(i));
	while (dq.size() > 10)
		dq.pop_front();
	std::list<std::shared_ptr<std::string>> l;
	for (int i = 0; i < 10; i++)
		l.push_back(std::make_shared<std::string>(30, 'q'));
	std::set<std::pair<int, std::string>> s;
	for (auto &w : words)
		s.insert({(int)w.size(), w});
	std::ostringstream os;
	for (auto &[k, v] : count)
		os << k << '=' << v << ' ';
	double sum = 0;
	for (auto &q : qs)
		sum += q.x + q.y;
	long n = 0;
	for (auto &m : ns)
		n += m.n.value_or(1);
	std::cout << os.str().size() << ' ' << sum << ' ' << n << ' ' << s.size() << ' ' << *dq.front() << '\n';
	try {
		words.at(1000);
	} catch (std::out_of_range &) {
		std::cout << "out of range\n";
	}
}
