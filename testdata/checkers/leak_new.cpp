// Objects and arrays from new without delete.
#include <string>

struct shape {
	virtual ~shape() {}
	double area = 1;
};

static double area() {
	shape *s = new shape; // finding: leak
	return s->area;
}

static int first() {
	int *a = new int[64](); // finding: leak
	a[0] = 5;
	return a[0];
}

int main() {
	return area() * first() != 5;
}
