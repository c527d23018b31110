// verdict: none
// flags: -O0
// std::cout may be used by several threads at once. The program has it in its
// own data, as a copy of the library's.
#include <iostream>
#include <thread>

int main() {
	std::thread t([] {
		for (int i = 0; i < 5; i++)
			std::cout << "a";
	});
	for (int i = 0; i < 5; i++)
		std::cout << "a";
	t.join();
	std::cout << std::endl;
}
