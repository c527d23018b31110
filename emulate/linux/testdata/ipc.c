// What processes say to each other otherwise than through pipes: System V
// shared memory, semaphores and messages, POSIX queues, descriptors sent through
// sockets; and signals, files and time that are read from descriptors.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int err(long r) { return r < 0 ? errno : 0; }

static void shared_memory(void) {
	int id = shmget(IPC_PRIVATE, 5000, IPC_CREAT | 0600), st;
	volatile int *p = shmat(id, NULL, 0), *q = shmat(id, NULL, SHM_RDONLY);
	p[0] = 5;
	if (fork() == 0) {
		p[1] = p[0] + 1;
		shmdt((void *)p);
		int *again = shmat(id, NULL, 0);
		again[2] = 9;
		_exit(0);
	}
	wait(&st);
	struct shmid_ds ds;
	shmctl(id, IPC_STAT, &ds);
	printf("shm %d %d %d, size %zu, attached %d, mode %o\n", q[0], q[1], q[2], ds.shm_segsz, (int)ds.shm_nattch, ds.shm_perm.mode & 0777);
	printf("dt %d", shmdt((void *)q));
	printf(" %d", err(shmdt((void *)q)));
	printf(" %d", shmctl(id, IPC_RMID, NULL));
	printf(" %d", p[1]);
	printf(" %d\n", shmdt((void *)p));
	printf("gone %d %d\n", err(shmctl(id, IPC_STAT, &ds)), err(shmget(0x5eed1234, 100, 0)));
}

static void semaphores(void) {
	int id = semget(IPC_PRIVATE, 3, IPC_CREAT | 0600), st;
	unsigned short all[3] = {1, 0, 4}, got[3];
	semctl(id, 0, SETALL, all);
	struct sembuf down = {1, -1, 0}, up = {1, 1, 0}, undone = {2, -1, SEM_UNDO}, zero = {0, 0, IPC_NOWAIT};
	if (fork() == 0) {
		semop(id, &undone, 1);
		semop(id, &down, 1);
		semctl(id, 0, SETVAL, 0);
		_exit(0);
	}
	printf("sem %d", err(semop(id, &zero, 1)));
	semop(id, &up, 1);
	wait(&st);
	printf(" %d", semop(id, &zero, 1));
	semctl(id, 0, GETALL, got);
	struct timespec ts = {0, 1000000};
	printf(" %d %d %d, time %d, range %d\n", got[0], got[1], got[2], err(semtimedop(id, &down, 1, &ts)), err(semctl(id, 0, SETVAL, 40000)));
	pid_t pid = fork();
	if (pid == 0) _exit(err(semop(id, &down, 1)) == EIDRM ? 4 : 5);
	while (semctl(id, 1, GETNCNT) != 1) usleep(1000);
	semctl(id, 0, IPC_RMID);
	wait(&st);
	printf("removed %d\n", WEXITSTATUS(st));
}

static void messages(void) {
	int id = msgget(IPC_PRIVATE, IPC_CREAT | 0600), st;
	struct { long type; char text[20]; } m = {3, "three"}, r;
	msgsnd(id, &m, 6, 0);
	m.type = 1;
	strcpy(m.text, "one");
	msgsnd(id, &m, 4, 0);
	memset(&r, 0, sizeof r);
	long n = msgrcv(id, &r, 20, -2, 0);
	printf("msg %ld %ld %s", n, r.type, r.text);
	n = msgrcv(id, &r, 20, 0, 0);
	printf(", %ld %ld %s, %d", n, r.type, r.text, err(msgrcv(id, &r, 20, 0, IPC_NOWAIT)));
	if (fork() == 0) {
		msgrcv(id, &r, 20, 7, 0);
		_exit(r.text[0]);
	}
	m.type = 7;
	msgsnd(id, &m, 4, 0);
	wait(&st);
	struct msqid_ds ds;
	msgctl(id, IPC_STAT, &ds);
	printf(", %c, left %d\n", WEXITSTATUS(st), (int)ds.msg_qnum);
	msgctl(id, IPC_RMID, NULL);
}

static void queues(void) {
	char name[40], b[100];
	sprintf(name, "/racesim-%ld-%d", (long)time(NULL), getpid() ^ (int)(long)&name);
	struct mq_attr at = {0, 4, 32};
	mqd_t q = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &at);
	if (q < 0) {
		printf("queues: %d\n", errno);
		return;
	}
	if (fork() == 0) {
		mq_send(q, "low", 4, 1);
		mq_send(q, "high", 5, 9);
		_exit(0);
	}
	wait(NULL);
	unsigned prio;
	long n = mq_receive(q, b, sizeof b, &prio);
	printf("queue %ld %s %u", n, b, prio);
	n = mq_receive(q, b, sizeof b, &prio);
	mq_getattr(q, &at);
	printf(", %ld %s %u, %ld %ld %ld\n", n, b, prio, at.mq_maxmsg, at.mq_msgsize, at.mq_curmsgs);
	mq_close(q);
	mq_unlink(name);
}

static void descriptors(void) {
	int s[2], p[2];
	char b[100], c[CMSG_SPACE(sizeof(int))];
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	struct iovec v = {"x", 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = c, .msg_controllen = sizeof c};
	if (fork() == 0) {
		pipe(p);
		write(p[1], "through a sent pipe", 19);
		close(p[1]);
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET, h->cmsg_type = SCM_RIGHTS, h->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(h), &p[0], sizeof(int));
		_exit(sendmsg(s[1], &m, 0) == 1 ? 0 : 1);
	}
	v.iov_base = b;
	memset(c, 0, sizeof c);
	long n = recvmsg(s[0], &m, 0);
	int fd;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	printf("received %ld, %d", n, (int)m.msg_controllen == CMSG_LEN(sizeof(int)) || (int)m.msg_controllen == sizeof c);
	n = read(fd, b, sizeof b);
	printf(" %.*s\n", (int)n, b);
	close(fd);
	wait(NULL);

	socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
	struct iovec vs[3] = {{"first", 5}, {"second", 6}, {"third", 5}};
	struct mmsghdr mm[3] = {{{.msg_iov = &vs[0], .msg_iovlen = 1}}, {{.msg_iov = &vs[1], .msg_iovlen = 1}}, {{.msg_iov = &vs[2], .msg_iovlen = 1}}};
	printf("sent %d: %d %d", sendmmsg(s[0], mm, 3, 0), mm[0].msg_len, mm[1].msg_len);
	char in[4][20];
	struct iovec vi[4];
	struct mmsghdr mi[4];
	memset(mi, 0, sizeof mi);
	for (int i = 0; i < 4; i++) vi[i] = (struct iovec){in[i], 20}, mi[i].msg_hdr.msg_iov = &vi[i], mi[i].msg_hdr.msg_iovlen = 1;
	printf(", got %d: %.6s %.5s\n", recvmmsg(s[1], mi, 4, MSG_WAITFORONE, NULL), in[1], in[2]);
}

static void signals(void) {
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, SFD_NONBLOCK), ep = epoll_create1(0);
	struct epoll_event ev = {EPOLLIN, {.u32 = 7}};
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
	struct signalfd_siginfo si;
	printf("signals %d", err(read(fd, &si, sizeof si)));
	printf(" %d", epoll_wait(ep, &ev, 1, 0));
	raise(SIGUSR1);
	printf(" %d", epoll_wait(ep, &ev, 1, 0));
	long n = read(fd, &si, sizeof si);
	printf(" %ld %d %d", n, si.ssi_signo, si.ssi_pid == getpid());
	pid_t pid = fork();
	if (pid == 0) _exit(6);
	struct timespec ts = {5, 0};
	printf(" %d", epoll_pwait2(ep, &ev, 1, &ts, NULL));
	read(fd, &si, sizeof si);
	printf(" %d %d %d\n", si.ssi_signo, si.ssi_pid == pid, si.ssi_status);
	waitpid(pid, NULL, 0);
	fcntl(fd, F_SETFL, 0);
	if ((pid = fork()) == 0) {
		usleep(1000);
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	n = read(fd, &si, sizeof si);
	printf("waited %ld %d %d\n", n, si.ssi_signo, si.ssi_pid == pid);
	waitpid(pid, NULL, 0);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	close(fd);
}

static void files(void) {
	char dir[] = "/tmp/racesim-ipc-XXXXXX", path[100], b[4096];
	mkdtemp(dir);
	int fd = inotify_init1(IN_NONBLOCK);
	printf("watch %d", inotify_add_watch(fd, dir, IN_CREATE | IN_DELETE));
	snprintf(path, sizeof path, "%s/a-file", dir);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	int d = open(dir, O_RDONLY);
	long n = syscall(SYS_getdents, d, b, sizeof b);
	int seen = 0;
	for (long at = 0; at < n; at += *(unsigned short *)(b + at + 16))
		if (strcmp(b + at + 18, "a-file") == 0) seen = 1 + (b[at + *(unsigned short *)(b + at + 16) - 1] == DT_REG);
	printf(", entry %d", seen);
	unlink(path);
	n = read(fd, b, sizeof b);
	struct inotify_event *e = (void *)b;
	printf(", event %x %s", e->mask, e->name);
	e = (void *)(b + sizeof *e + e->len);
	printf(", %x\n", e->mask);
	rmdir(dir);
	close(fd);
}

static void splices(void) {
	int p[2], q[2];
	char b[100];
	pipe(p);
	pipe(q);
	struct iovec v[2] = {{"spliced ", 8}, {"bytes", 5}};
	printf("splices %zd", vmsplice(p[1], v, 2, 0));
	printf(" %zd", tee(p[0], q[1], 100, 0));
	int f = memfd_create("x", 0);
	printf(" %zd", splice(p[0], NULL, f, NULL, 100, 0));
	long n = pread(f, b, sizeof b, 0);
	printf(" %.*s", (int)n, b);
	n = read(q[0], b, sizeof b);
	loff_t off = 8;
	printf(" %.*s", (int)n, b);
	printf(" %zd %ld", splice(f, &off, p[1], NULL, 5, 0), (long)off);
	n = read(p[0], b, sizeof b);
	printf(" %.*s %d\n", (int)n, b, err(splice(f, NULL, f, NULL, 5, 0)));
}

static volatile int ticks;
static void tick(int s) { ticks++; }

int main(void) {
	setvbuf(stdout, NULL, _IOLBF, 0);
	shared_memory();
	semaphores();
	messages();
	queues();
	descriptors();
	signals();
	files();
	splices();
	signal(SIGVTALRM, tick);
	struct itimerval it = {{0, 2000}, {0, 2000}};
	setitimer(ITIMER_VIRTUAL, &it, NULL);
	usleep(10000);
	printf("asleep %d\n", ticks > 2);
	while (ticks < 3) {
	}
	printf("busy\n");
	int on = 1, s = socket(AF_INET, SOCK_STREAM, 0);
	printf("ioctl %d, owner %d", ioctl(s, FIOASYNC, &on), fcntl(s, F_SETOWN, getpid()));
	printf(" %d, unknown %d\n", fcntl(s, F_GETOWN) == getpid(), err(ioctl(s, 0xabcd, 0)));
	return 0;
}
