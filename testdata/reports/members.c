// Members, elements, members of elements, bit fields, unions.
// variable: conf.level
// variable: ring[3].x
// variable: table[2][1]
// variable: conf.inner.name[4]
// variable: set_up::count
// stack: set_up work
#include <pthread.h>
struct point {
	int x, y;
};
static struct {
	long spare;
	int level;
	struct {
		char kind;
		char name[8];
	} inner;
} conf;
static struct point ring[8];
static short table[4][3];

__attribute__((noinline)) static void set_up(int i)
{
	static long count;
	count++;
	conf.level += i;
	ring[3].x += i;
	table[2][1] += i;
	conf.inner.name[4] += i;
}
static void *work(void *arg)
{
	for (int i = 0; i < 20; i++)
		set_up(i);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return conf.level == 0 && ring[3].x == 0;
}
