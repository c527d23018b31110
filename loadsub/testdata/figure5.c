// The three situations of a load whose location another thread changes during
// the function: its order is forced by turn.
#include <pthread.h>
#include <stdio.h>

static volatile int turn;
volatile int x = 1, y = 3, z = 5;
volatile long out;

static void hand_over(void)
{
	turn = 1;
	while (turn)
		;
}

// x is an input; the other thread changes it between two loads.
__attribute__((noinline)) int input_changed(void)
{
	int first = x;
	hand_over();
	int second = x;
	out = first * 100 + second;
	return second;
}

// y is an input; the function stores, the other thread stores, the function loads.
__attribute__((noinline)) int own_store_to_input(void)
{
	int first = y;
	y = first + 1;
	hand_over();
	int second = y;
	out = first * 100 + second;
	return second;
}

// z isn't an input: the function's store comes before its load.
__attribute__((noinline)) int own_store(void)
{
	z = 6;
	hand_over();
	int second = z;
	out = second;
	return second;
}

static void *other(void *arg)
{
	volatile int *where[] = {&x, &y, &z};
	for (int i = 0; i < 3; i++) {
		while (!turn)
			;
		*where[i] = 40 + i;
		turn = 0;
	}
	return NULL;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	int a = input_changed(), b = own_store_to_input(), c = own_store();
	pthread_join(t, NULL);
	printf("%d %d %d\n", a, b, c);
	return 0;
}
