// 256-bit registers: in signal frames, across faults in the middle of accesses, in
// gathers, and saved and restored by the program itself.
#define _GNU_SOURCE
#include <immintrin.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

static uint8_t *page; // two pages, the second of which may be out of reach
static volatile int faults;

static uint32_t sum(const void *p, int n) {
	uint32_t h = 1;
	for (int i = 0; i < n; i++) h = h * 31 + ((const uint8_t *)p)[i];
	return h;
}

// Called at UD2: looks at the frame, changes the upper half of ymm14 in it.
static void ill(int s, siginfo_t *si, void *u) {
	ucontext_t *uc = u;
	uint8_t *fp = (uint8_t *)uc->uc_mcontext.fpregs;
	uint32_t *sw = (uint32_t *)(fp + 464);
	uint64_t bv;
	uint32_t magic2;
	memcpy(&bv, fp + 512, 8);
	memcpy(&magic2, fp + sw[4], 4);
	printf("frame: aligned %d flag %d magic %d %d components %d in use %d\n", ((uintptr_t)fp & 63) == 0, (int)(uc->uc_flags & 1),
	       sw[0] == 0x46505853, magic2 == 0x46505845, (int)sw[2] & 7, (int)bv & 7);
	printf("ymm15 %08x %08x ymm14 %08x %08x\n", sum(fp + 160 + 15 * 16, 16), sum(fp + 576 + 15 * 16, 16),
	       sum(fp + 160 + 14 * 16, 16), sum(fp + 576 + 14 * 16, 16));
	memset(fp + 576 + 14 * 16, 0x5a, 16);
	__asm__ volatile("vpcmpeqb %%ymm15,%%ymm15,%%ymm15; vpcmpeqb %%ymm14,%%ymm14,%%ymm14" ::: "xmm14", "xmm15");
	uc->uc_mcontext.gregs[REG_RIP] += 2;
}

// Called at an access to the second page: lets it through.
static void segv(int s, siginfo_t *si, void *u) {
	faults++;
	printf("fault %d at page+%#lx\n", (int)faults, (unsigned long)((uint8_t *)si->si_addr - page) & ~0xfffUL);
	mprotect(page, 8192, PROT_READ | PROT_WRITE);
}

static void in_frames(void) {
	uint8_t a[32], b[32], ra[32], rb[32];
	for (int i = 0; i < 32; i++) a[i] = i * 7, b[i] = 255 - i * 3;
	__asm__ volatile("vmovdqu %2,%%ymm15; vmovdqu %3,%%ymm14; ud2; vmovdqu %%ymm15,%0; vmovdqu %%ymm14,%1; vzeroupper"
	                 : "=m"(ra), "=m"(rb) : "m"(a), "m"(b) : "xmm14", "xmm15", "memory");
	printf("back: %08x %08x, ymm14's halves %08x %08x\n", sum(a, 32), sum(ra, 32), sum(rb, 16), sum(rb + 16, 16));
}

static void across_pages(void) {
	for (int i = 0; i < 8192; i++) page[i] = i * 13 + (i >> 8);
	for (int off = 4096 - 32; off <= 4096; off += 5) {
		mprotect(page + 4096, 4096, PROT_NONE);
		__m256i v = _mm256_loadu_si256((void *)(page + off));
		mprotect(page + 4096, 4096, PROT_READ);
		v = _mm256_add_epi8(v, _mm256_set1_epi8(off));
		_mm256_storeu_si256((void *)(page + off), v);
		printf("at %d: %08x\n", off, sum(page, 8192));
	}
}

static void masked(void) {
	int32_t m[8];
	for (int k = 0; k < 8; k++) {
		for (int i = 0; i < 8; i++) m[i] = i < k ? -1 : 0;
		mprotect(page + 4096, 4096, PROT_NONE);
		int before = faults;
		__m256i mask = _mm256_loadu_si256((void *)m);
		__m256i v = _mm256_maskload_epi32((void *)(page + 4096 - 16), mask);
		int faulted = faults - before;
		_mm256_maskstore_epi32((void *)(page + 64), mask, _mm256_add_epi32(v, _mm256_set1_epi32(k)));
		mprotect(page, 8192, PROT_READ | PROT_WRITE);
		printf("mask %d: faulted %d %08x\n", k, faulted, sum(page, 8192));
	}
}

static void gathered(void) {
	int32_t idx[8] = {3, 1500, 7, 9, 1030, 11, 1024, 2};
	for (int k = 0; k < 3; k++) {
		mprotect(page + 4096, 4096, PROT_NONE);
		__m256i v = _mm256_i32gather_epi32((void *)page, _mm256_add_epi32(_mm256_loadu_si256((void *)idx), _mm256_set1_epi32(k)), 4);
		uint8_t out[32];
		_mm256_storeu_si256((void *)out, v);
		printf("gathered %08x\n", sum(out, 32));
		mprotect(page, 8192, PROT_READ | PROT_WRITE);
	}
}

__attribute__((target("xsave,xsavec"))) static void saved(void) {
	static uint8_t area[4096] __attribute__((aligned(64)));
	uint8_t a[32], r[32];
	for (int i = 0; i < 32; i++) a[i] = i * 11 + 1;
	memset(area, 0, sizeof area);
	__asm__ volatile("vmovdqu %2,%%ymm13; mov $7,%%eax; xor %%edx,%%edx; xsave %1; vzeroall; xrstor %1; vmovdqu %%ymm13,%0; vzeroupper"
	                 : "=m"(r), "+m"(area) : "m"(a) : "eax", "edx", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
	                   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory");
	printf("saved %d: %08x %08x\n", memcmp(a, r, 32) == 0, sum(area + 576 + 13 * 16, 16), sum(area + 160 + 13 * 16, 16));
	printf("enabled %d\n", (int)_xgetbv(0) & 7);
}

int main(void) {
	setvbuf(stdout, 0, _IOFBF, 1 << 16);
	struct sigaction sa = {.sa_sigaction = ill, .sa_flags = SA_SIGINFO};
	sigaction(SIGILL, &sa, 0);
	sa.sa_sigaction = segv;
	sigaction(SIGSEGV, &sa, 0);
	page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	in_frames();
	across_pages();
	masked();
	gathered();
	saved();
	return 0;
}
