// Capabilities and scheduling policies.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0}, bad = {7, 0};
	struct __user_cap_data_struct d[2], e[2];
	int r = syscall(SYS_capget, &bad, 0);
	printf("version %d %x\n", r, bad.version);
	bad.version = 7;
	r = syscall(SYS_capget, &bad, d);
	printf("unknown %d %d %x\n", r, errno, bad.version);
	r = syscall(SYS_capget, &h, d);
	printf("get %d %d\n", r, (d[0].effective & d[0].permitted) == d[0].effective);
	h.pid = 999999;
	r = syscall(SYS_capget, &h, e);
	printf("nobody %d %d\n", r, errno);
	h.pid = 0;
	d[0].effective = 0;
	r = syscall(SYS_capset, &h, d);
	printf("less %d", r);
	r = syscall(SYS_capget, &h, e);
	printf(" %d %d\n", e[0].effective, e[0].permitted == d[0].permitted);
	d[0].effective = d[0].permitted;
	d[0].permitted = 0;
	r = syscall(SYS_capset, &h, d);
	printf("more than permitted %d %d\n", r, errno);
	memset(d, 0, sizeof d);
	r = syscall(SYS_capset, &h, d);
	printf("none %d", r);
	d[0].permitted = 1;
	r = syscall(SYS_capset, &h, d);
	printf(" and back %d %d\n", r, errno);

	struct sched_param p = {0};
	r = sched_getscheduler(0);
	printf("policy %d", r);
	r = sched_setscheduler(0, SCHED_BATCH, &p);
	printf(" %d %d", r, sched_getscheduler(0));
	r = sched_setscheduler(getpid(), SCHED_IDLE, &p);
	printf(" %d %d", r, sched_getscheduler(getpid()));
	r = sched_setscheduler(0, 77, &p);
	printf(" %d %d\n", r, errno);
}
