// Values that go to outputs in different ways, and values that go nowhere.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

volatile int a = 1, b = 2, c = 3, d = 4, e = 5;
volatile int sum, picked;
int table[8] = {10, 11, 12, 13, 14, 15, 16, 17};
struct big { long v[6]; } from = {{1, 2, 3, 4, 5, 6}}, to;
const volatile int fixed = 7;
volatile double half = 0.5;

// a flows to sum, b to the result, c decides a branch, d goes nowhere, e is an
// index; fixed can't change.
__attribute__((noinline)) int flows(void)
{
	sum = a + fixed;
	if (c > 2)
		picked = 1;
	int unused = d;
	sum += table[e];
	return b * 2;
}

// Only v[2] of the structure that is copied matters.
__attribute__((noinline)) long copies(void)
{
	struct big tmp;
	memcpy(&tmp, &from, sizeof tmp);
	__asm__ volatile("" : : "r"(&tmp) : "memory");
	return tmp.v[2];
}

__attribute__((noinline)) void nothing(void)
{
	int unused = a;
	unused = unused + b;
}

__attribute__((noinline)) double real(void)
{
	return half * 3;
}

// The accumulator lives in a register, or in the frame.
__attribute__((noinline)) int total(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++) {
		int twice = table[i & 7] * 2;
		s += twice;
	}
	return s;
}

static void *run(void *arg)
{
	for (int i = 0; i < 4; i++) {
		flows();
		copies();
		nothing();
		half = real();
		sum = total(100 + i);
	}
	return NULL;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, run, NULL);
	pthread_join(t, NULL);
	run(NULL);
	printf("%d\n", sum);
	return 0;
}
