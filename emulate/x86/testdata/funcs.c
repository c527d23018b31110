// Functions that the tests run natively and emulated; each takes a seed and
// returns a digest of what it computed. No library is used.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef __int128 i128;

static u8 buf[1 << 16], out[1 << 17];
static u32 table[1 << 12];

static u64 rng(u64 *s) { *s ^= *s << 13; *s ^= *s >> 7; *s ^= *s << 17; return *s; }

static void fill(u64 seed)
{
	u64 s = seed * 2 + 1;
	for (u32 i = 0; i < sizeof buf; i++)
		buf[i] = rng(&s) % 7 ? "abracadabra"[i % 11] : (u8)(s >> 20);
}

// An LZ77 compressor with a hash table, and its decompressor.
u64 f_lz(u64 seed)
{
	fill(seed);
	for (u32 i = 0; i < 4096; i++) table[i] = 0;
	u32 n = sizeof buf, i = 0, o = 0, lit = 0;
	while (i + 8 < n) {
		u32 v = *(u32 *)(buf + i);
		u32 h = v * 2654435761u >> 20;
		u32 c = table[h];
		table[h] = i;
		if (c < i && i - c < 65535 && *(u32 *)(buf + c) == v) {
			u32 len = 4;
			while (i + len < n && buf[c + len] == buf[i + len] && len < 255) len++;
			out[o++] = lit; out[o++] = len; out[o++] = (i - c); out[o++] = (i - c) >> 8;
			i += len; lit = 0;
		} else {
			out[o++] = buf[i++]; lit++;
		}
	}
	u64 d = o;
	for (u32 k = 0; k < o; k++) d = d * 31 + out[k];
	return d;
}

u64 f_crc(u64 seed)
{
	fill(seed);
	u32 t[256], c = ~0u;
	for (u32 i = 0; i < 256; i++) { u32 v = i; for (int k = 0; k < 8; k++) v = v & 1 ? v >> 1 ^ 0xEDB88320u : v >> 1; t[i] = v; }
	for (u32 i = 0; i < sizeof buf; i++) c = t[(u8)c ^ buf[i]] ^ c >> 8;
	return c;
}

static void sort(long *a, long n)
{
	if (n < 2) return;
	long p = a[n / 2], i = 0, j = n - 1;
	for (;;) {
		while (a[i] < p) i++;
		while (a[j] > p) j--;
		if (i >= j) break;
		long t = a[i]; a[i] = a[j]; a[j] = t;
		i++; j--;
	}
	sort(a, i); sort(a + i, n - i);
}

u64 f_sort(u64 seed)
{
	static long a[5000];
	u64 s = seed + 99, d = 0;
	for (int i = 0; i < 5000; i++) a[i] = (long)rng(&s) >> (s & 31);
	sort(a, 5000);
	for (int i = 0; i < 5000; i++) d = d * 33 + a[i];
	return d;
}

u64 f_div(u64 seed)
{
	u64 s = seed + 7, d = 0;
	for (int i = 0; i < 20000; i++) {
		u64 a = rng(&s), b = rng(&s) >> (s & 63) | 1;
		d += a / b ^ a % b;
		d += (long)a / ((int)b | 1) + (int)a % (short)(b | 1);
		d ^= (u64)((unsigned __int128)a * b >> 64);
		d += (u8)a / (u8)(b | 1);
	}
	return d;
}

u64 f_128(u64 seed)
{
	u64 s = seed + 5;
	i128 x = 1, y = 3;
	for (int i = 0; i < 20000; i++) {
		x = x * (long)rng(&s) + y;
		y = (y << (s & 31)) - (x >> (s & 63));
		if (x < y) y ^= x; else x += (u64)y;
	}
	return (u64)x ^ (u64)(x >> 64) ^ (u64)y;
}

u64 f_bits(u64 seed)
{
	u64 s = seed + 3, d = 0;
	for (int i = 0; i < 20000; i++) {
		u64 a = rng(&s);
		d += __builtin_popcountl(a) + __builtin_ctzl(a | 1ul << 63) + __builtin_clzl(a | 1);
		d = d << (a & 63) | d >> (-a & 63);
		d ^= __builtin_bswap64(a) + __builtin_bswap32((u32)a) + __builtin_bswap16((u16)a);
		d += (signed char)a * 3 + (short)a * 5 + (a >> 3 & 1 ? (int)a : (u8)a);
		d ^= a & 1ul << (d & 63) ? 11 : 12;
	}
	return d;
}

static u64 one(u64 x) { return x + 1; }
static u64 two(u64 x) { return x * 3; }
static u64 three(u64 x) { return x ^ x >> 5; }
static u64 four(u64 x) { return x - 77; }
static u64 (*volatile const fns[4])(u64) = { one, two, three, four };

u64 f_calls(u64 seed)
{
	u64 s = seed + 1, d = 0;
	for (int i = 0; i < 20000; i++) d = fns[rng(&s) & 3](d);
	return d;
}

static int interp(const u8 *p, u64 *r)
{
	for (int n = 0;; n++) {
		if (n > 2000) return n;
		switch (*p++ % 12) {
		case 0: r[0] += r[1]; break;
		case 1: r[1] ^= r[2] << 3; break;
		case 2: r[2] -= r[3]; break;
		case 3: r[3] = r[0] * 5; break;
		case 4: if (r[0] & 1) p++; break;
		case 5: r[4]++; break;
		case 6: if (r[1] > r[2]) r[1] >>= 1; break;
		case 7: r[5] += *p; break;
		case 8: r[0] = (u32)r[5]; break;
		case 9: r[6] = r[0] ? r[1] / (r[0] | 1) : 9; break;
		case 10: r[7] += r[6]; break;
		case 11: r[2] = ~r[7]; break;
		}
	}
}

u64 f_switch(u64 seed)
{
	u64 r[8] = { seed, 1, 2, 3, 4, 5, 6, 7 }, d = 0;
	fill(seed);
	for (int i = 0; i < 20; i++) d += interp(buf + i * 1000, r);
	for (int i = 0; i < 8; i++) d = d * 7 + r[i];
	return d;
}

u64 f_strings(u64 seed)
{
	fill(seed);
	u64 d = 0, s = seed + 2;
	for (int i = 0; i < 300; i++) {
		u64 n = rng(&s) % 500, a = rng(&s) % 30000, b = rng(&s) % 30000;
		void *di = out + b, *si = buf + a;
		u64 c = n;
		switch (i & 7) {
		case 0: __asm__ volatile("rep movsb" : "+D"(di), "+S"(si), "+c"(c) :: "memory"); break;
		case 1: __asm__ volatile("rep movsq" : "+D"(di), "+S"(si), "+c"(c) :: "memory"); break;
		case 2: __asm__ volatile("rep stosb" : "+D"(di), "+c"(c) : "a"(a) : "memory"); break;
		case 3: __asm__ volatile("rep stosl" : "+D"(di), "+c"(c) : "a"(a * 0x10203) : "memory"); break;
		case 4: __asm__ volatile("repne scasb" : "+D"(si), "+c"(c) : "a"('r') : "memory", "cc"); break;
		case 5: { u8 z; di = buf + a + 11; __asm__ volatile("repe cmpsb; setb %0" : "=q"(z), "+D"(di), "+S"(si), "+c"(c) :: "memory", "cc"); d += z; break; }
		case 6: si = out + b + 3; __asm__ volatile("rep movsb" : "+S"(di), "+D"(si), "+c"(c) :: "memory"); break; // overlapping, repeats
		case 7: si = out + b + 700; di = out + b + 707; __asm__ volatile("std; rep movsw; cld" : "+D"(di), "+S"(si), "+c"(c) :: "memory"); break;
		}
		d = d * 31 + c + (u64)((u8 *)di - out) % 16 + (u64)((u8 *)si - buf) % 16;
	}
	for (u32 k = 0; k < 65536; k++) d = d * 31 + out[k];
	return d;
}

u64 f_atomic(u64 seed)
{
	static u64 x; static u32 y; static u8 z; static u16 w;
	u64 s = seed + 8, d = 0;
	for (int i = 0; i < 5000; i++) {
		u64 v = rng(&s);
		d += __atomic_fetch_add(&x, v, 5) + __atomic_fetch_sub(&y, (u32)v, 5) + __atomic_exchange_n(&w, (u16)v, 5);
		__atomic_fetch_or(&z, (u8)v, 5);
		d ^= __atomic_fetch_and(&x, v | 0xFF00FF, 5);
		u64 e = i & 1 ? x : v;
		d += __atomic_compare_exchange_n(&x, &e, v, 0, 5, 5) + e;
		__atomic_thread_fence(5);
		d += __sync_bool_compare_and_swap(&y, (u32)d, 7u);
		x ^= d; y += i; z <<= 1; w++;
	}
	return d + x + y + z + w;
}

u64 f_pop(u64 seed)
{
	// A sieve, a matrix product and a Collatz walk: tight loops.
	u64 d = 0;
	for (u32 i = 0; i < sizeof buf; i++) buf[i] = 1;
	for (u32 i = 2; i * i < sizeof buf; i++) if (buf[i]) for (u32 j = i * i; j < sizeof buf; j += i) buf[j] = 0;
	for (u32 i = 2; i < sizeof buf; i++) d += buf[i] ? i : 0;
	static int m[32][32], k[32][32], p[32][32];
	for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) { m[i][j] = i * seed + j; k[i][j] = i ^ j * 3; }
	for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) { int t = 0; for (int l = 0; l < 32; l++) t += m[i][l] * k[l][j]; p[i][j] = t; }
	for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) d = d * 3 + p[i][j];
	for (u64 v = seed + 27; v != 1; v = v & 1 ? 3 * v + 1 : v / 2) d++;
	return d;
}
