// Two threads count the words of a text in a shared table, each half of the
// buckets, and hash the text.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 1 << 20, BUCKETS = 1 << 15, ROUNDS = 6 };
static unsigned char text[TEXT];
static struct {
	uint64_t hash;
	unsigned count;
} table[BUCKETS];
static uint64_t sums[2];

static uint64_t mix(uint64_t h)
{
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdULL;
	h ^= h >> 33;
	h *= 0xc4ceb9fe1a85ec53ULL;
	return h ^ h >> 33;
}

static void *count(void *arg)
{
	unsigned half = (unsigned)(long)arg;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t h = 0xcbf29ce484222325ULL, all = 0;
		for (int i = 0; i < TEXT; i++) {
			if (text[i] != ' ') {
				h = (h ^ text[i]) * 0x100000001b3ULL;
				continue;
			}
			uint64_t m = mix(h + round);
			all = all * 31 + m;
			unsigned b = m % BUCKETS;
			if (b % 2 == half) {
				unsigned free = b;
				for (int k = 0; k < 4 && table[free].hash && table[free].hash != m; k++)
					free = (free + 2) % BUCKETS;
				table[free].hash = m;
				table[free].count++;
			}
			h = 0xcbf29ce484222325ULL;
		}
		sums[half] += all;
	}
	return NULL;
}

int main(void)
{
	unsigned x = 7;
	for (int i = 0; i < TEXT; i++) {
		x = x * 1664525 + 1013904223;
		text[i] = x >> 29 == 0 ? ' ' : 'a' + (x >> 16) % 26;
	}
	pthread_t t[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, count, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	uint64_t n = 0;
	for (int i = 0; i < BUCKETS; i++)
		n += table[i].count * mix(table[i].hash);
	printf("%llx %llx %llx\n", (unsigned long long)sums[0], (unsigned long long)sums[1], (unsigned long long)n);
	return 0;
}
