// The guest of the samples of each version of the format, version1.ttd and so
// on: two threads and no library, so that its trace is small. Made by
//
//	gcc -g -O1 -static -nostdlib -fno-stack-protector -o sample sample.c
//	racesim record --slice 40 --key-frames 100 -o version1.ttd -- ./sample
static volatile int total, done;
static char stack[4096] __attribute__((aligned(16)));

static long call(long nr, long a, long b, long c, long d) {
	register long r10 __asm__("r10") = d;
	long ret;
	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return ret;
}

__attribute__((noinline)) static void add(int n) {
	for (int i = 0; i < n; i++)
		total += i;
}

__attribute__((used)) static void child(void) {
	add(30);
	__atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
	call(60, 0, 0, 0, 0); // exit
}

__attribute__((naked, used)) void _start(void) {
	__asm__ volatile("and $-16, %rsp\n call go\n hlt");
}

__attribute__((used)) static void go(void) {
	unsigned lo, hi;
	long id;
	// clone: VM, FS, FILES, SIGHAND, THREAD, SYSVSEM
	__asm__ volatile("syscall\n test %%rax, %%rax\n jnz 1f\n xor %%ebp, %%ebp\n call child\n1:"
		: "=a"(id) : "a"(56), "D"(0x50f00L), "S"(stack + sizeof stack), "d"(0) : "rcx", "r11", "memory");
	add(20);
	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	while (!done)
		call(24, 0, 0, 0, 0); // sched_yield
	char text[3] = {'0' + total % 10, '\n'};
	call(1, 1, (long)text, 2, 0); // write
	call(231, 0, 0, 0, 0); // exit_group
}
