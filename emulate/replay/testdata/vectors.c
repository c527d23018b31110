// 256-bit registers that live across slices and key frames, and 32-byte accesses at
// all alignments to lines that other threads write the rest of.
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { Threads = 3, Part = 200, Rounds = 120 };

static uint8_t shared[Threads * Part * 2 + 64];

static void *work(void *p) {
	long id = (long)p;
	uint8_t *mine = shared + 13 + id * Part; // parts share lines
	__m256i acc = _mm256_set1_epi32(id + 1), k = _mm256_set_epi32(1, 3, 5, 7, 11, 13, 17, 19);
	__m256d f = _mm256_set1_pd(1.0 / (id + 3)), g = _mm256_set_pd(1.5, 2.5, 3.5, 4.5);
	for (int r = 0; r < Rounds; r++) {
		for (int off = 0; off + 32 <= Part; off += 7) {
			__m256i v = _mm256_loadu_si256((void *)(mine + off));
			acc = _mm256_add_epi32(_mm256_mullo_epi32(acc, k), _mm256_xor_si256(v, _mm256_srli_epi32(acc, 7)));
			_mm256_storeu_si256((void *)(mine + off), _mm256_add_epi8(v, acc));
			f = _mm256_fmadd_pd(f, g, _mm256_cvtepi32_pd(_mm256_castsi256_si128(acc)));
			f = _mm256_mul_pd(f, _mm256_set1_pd(1e-9));
		}
		__m256i idx = _mm256_and_si256(acc, _mm256_set1_epi32(31));
		acc = _mm256_xor_si256(acc, _mm256_i32gather_epi32((void *)mine, idx, 4));
		_mm256_maskstore_epi32((void *)(mine + 100), acc, k);
		_mm_maskstore_epi32((void *)(mine + 1), _mm256_castsi256_si128(acc), _mm256_castsi256_si128(k));
	}
	uint64_t out[8], *sum = p = calloc(1, 8);
	_mm256_storeu_si256((void *)out, acc);
	_mm256_storeu_pd((void *)(out + 4), f);
	for (int i = 0; i < 8; i++) *sum = *sum * 31 + out[i];
	return p;
}

int main(void) {
	pthread_t t[Threads];
	for (long i = 0; i < Threads; i++) pthread_create(&t[i], 0, work, (void *)i);
	uint64_t h = 0;
	for (int i = 0; i < Threads; i++) {
		void *r;
		pthread_join(t[i], &r);
		h = h * 17 + *(uint64_t *)r;
	}
	for (int i = 0; i < sizeof shared; i++) h = h * 31 + shared[i];
	printf("%016llx\n", (unsigned long long)h);
	return 0;
}
