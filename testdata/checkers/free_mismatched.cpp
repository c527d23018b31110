// flags: -Wno-mismatched-new-delete
#include <cstdio>
#include <cstdlib>
#include <memory>

int main() {
	int *one = new int(1), *many = new int[8]();
	std::unique_ptr<int[]> right(new int[4]());
	void *raw = std::malloc(8);
	delete many; // finding: mismatched-free
	std::free(one); // finding: mismatched-free
	std::free(raw);
	std::puts("done");
}
