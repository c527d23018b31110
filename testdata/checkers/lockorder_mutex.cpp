// Accounts lock themselves, then their partner.
#include <cstdio>
#include <mutex>
#include <thread>

struct account {
	std::mutex m;
	long balance = 100;
	void pay(account &to, long n) {
		std::lock_guard<std::mutex> l(m);
		std::lock_guard<std::mutex> k(to.m); // finding: lock-order
		balance -= n;
		to.balance += n;
	}
};

static account a, b;
static std::once_flag once;
static std::mutex start;

int main() {
	std::thread t([] {
		std::lock_guard<std::mutex> s(start);
		a.pay(b, 5);
	});
	t.join();
	std::mutex done;
	std::thread u([&] {
		{
			std::lock_guard<std::mutex> s(done);
		}
		a.pay(b, 7);
	});
	b.pay(a, 3);
	u.join();
	std::printf("%ld %ld\n", a.balance, b.balance);
}
