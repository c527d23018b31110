package linux

import (
	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate/x86"
)

const (
	whyForbidden = "forking is forbidden (--children)"
	whyShare     = "processes that share more than memory and files, or have namespaces of their own, aren't supported"
)

func init() {
	addCalls([]sysRow{
		{nr: 56, name: "clone", args: "flags, stack, >parenttid, >childtid, tls", fn: sysClone,
			note: "no CLONE_PTRACE, CLONE_PARENT nor namespaces; CLONE_FILES, CLONE_FS and CLONE_SIGHAND only for threads, else a copy"},
		{nr: 435, name: "clone3", args: "<args, n", fn: sysClone3, note: "as clone; no CLONE_INTO_CGROUP, set_tid"},
		{nr: 57, name: "fork", fn: func(c *call) int64 { return c.clone(cloneArgs{exit: int(unix.SIGCHLD)}) }},
		{nr: 58, name: "vfork", fn: func(c *call) int64 {
			return c.clone(cloneArgs{flags: unix.CLONE_VM | unix.CLONE_VFORK, exit: int(unix.SIGCHLD)})
		}},
	})
}

// cloneArgs are what clone and clone3 have in common.
type cloneArgs struct {
	flags         uint64
	exit          int // signal at the end
	sp            uint64
	parent, child uint64 // addresses for the number
	tls           uint64
	pidfd         uint64 // address for the descriptor (CLONE_PIDFD)
}

func sysClone(c *call) int64 {
	return c.clone(cloneArgs{flags: c.args[0] &^ 0xff, exit: int(c.args[0] & 0xff), sp: c.args[1],
		parent: c.args[2], child: c.args[3], tls: c.args[4], pidfd: c.args[2]})
}

// struct clone_args: flags, pidfd, child_tid, parent_tid, exit_signal, stack,
// stack_size, tls, set_tid, set_tid_size, cgroup.
const (
	clone3Min = 64
	clone3Max = 88
)

func sysClone3(c *call) int64 {
	n := c.args[1]
	if n < clone3Min {
		return fail(unix.EINVAL)
	}
	if n > PageSize {
		return fail(unix.E2BIG)
	}
	b := make([]byte, max(n, clone3Max))
	if e := c.read(c.args[0], b[:n]); e != 0 {
		return fail(e)
	}
	for _, x := range b[clone3Max:] {
		if x != 0 {
			return fail(unix.E2BIG)
		}
	}
	a := cloneArgs{flags: le64(b[0:]), child: le64(b[16:]), parent: le64(b[24:]), exit: int(le64(b[32:])), tls: le64(b[56:]),
		pidfd: le64(b[8:])}
	stack, size := le64(b[40:]), le64(b[48:])
	if a.flags&0xff != 0 || a.exit < 0 || a.exit > maxSignal || (stack == 0) != (size == 0) ||
		a.flags&(unix.CLONE_THREAD|unix.CLONE_PARENT) != 0 && a.exit != 0 {
		return fail(unix.EINVAL)
	}
	if le64(b[64:]) != 0 || le64(b[72:]) != 0 {
		return fail(unix.EPERM) // choosing numbers takes privileges
	}
	if stack != 0 {
		a.sp = stack + size
	}
	return c.clone(a)
}

// threadFlags are what a clone must share to make a thread.
const threadFlags = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD

// tidFlags are the flags of both kinds.
const tidFlags = unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID | unix.CLONE_PARENT_SETTID | unix.CLONE_SETTLS |
	unix.CLONE_UNTRACED | unix.CLONE_DETACHED | unix.CLONE_SYSVSEM | unix.CLONE_IO

// forkFlags are those of a new process.
const forkFlags = tidFlags | unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_CLEAR_SIGHAND | unix.CLONE_FILES | unix.CLONE_FS |
	unix.CLONE_PIDFD | unix.CLONE_SIGHAND

func (c *call) clone(a cloneArgs) int64 {
	f := a.flags
	switch {
	case f&unix.CLONE_SIGHAND != 0 && f&unix.CLONE_VM == 0, f&unix.CLONE_THREAD != 0 && f&unix.CLONE_SIGHAND == 0,
		f&unix.CLONE_SIGHAND != 0 && f&unix.CLONE_CLEAR_SIGHAND != 0:
		return fail(unix.EINVAL)
	case f&namespaces != 0:
		return fail(unix.EPERM)
	case f&unix.CLONE_THREAD == 0:
		return c.fork(a)
	case f&threadFlags != threadFlags || f&^(threadFlags|tidFlags) != 0:
		return c.refuse(unix.EINVAL, whyShare)
	}
	p, t := c.p, c.t
	n := p.newThread(p.fam.newPID())
	n.Name = t.Name
	n.mask = t.mask
	n.copyState(t)
	n.affinity, n.policy = t.affinity, t.policy
	c.dress(n, a)
	p.sched.place(n)
	p.fam.woke = true
	p.hooks.ThreadStart(n, t.ID)
	return int64(n.TID)
}

// namespaces are the flags that ask for namespaces, which takes privileges.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// dress gives a new thread what clone's arguments say.
func (c *call) dress(n *Thread, a cloneArgs) {
	if a.sp != 0 {
		n.CPU.R[4] = a.sp
	}
	if a.flags&unix.CLONE_SETTLS != 0 {
		n.CPU.R[x86.RegFS] = a.tls
	}
	var b [4]byte
	put32(b[:], uint32(n.TID))
	if a.flags&unix.CLONE_PARENT_SETTID != 0 {
		c.write(a.parent, b[:])
	}
	if a.flags&unix.CLONE_CHILD_SETTID != 0 {
		if n.p.AS == c.p.AS {
			c.write(a.child, b[:])
		} else {
			n.p.AS.write(nil, a.child, b[:])
		}
	}
	if a.flags&unix.CLONE_CHILD_CLEARTID != 0 {
		n.clearTID = a.child
	}
}

// fork is clone for a process.
func (c *call) fork(a cloneArgs) int64 {
	if a.flags&^forkFlags != 0 {
		return c.refuse(unix.EINVAL, whyShare)
	}
	if c.p.cfg.Children == ChildrenForbid {
		c.err = c.unsupported(whyForbidden)
		return fail(unix.EPERM)
	}
	const both = unix.CLONE_PIDFD | unix.CLONE_PARENT_SETTID
	if a.flags&unix.CLONE_PIDFD != 0 && (a.flags&unix.CLONE_DETACHED != 0 || a.flags&both == both && a.pidfd == a.parent) {
		return fail(unix.EINVAL)
	}
	q, e := c.p.fork(c.t, a.flags&unix.CLONE_VM != 0)
	if e != 0 {
		return fail(e)
	}
	c.p.children[len(c.p.children)-1].exit = a.exit
	u := q.threads[0]
	c.dress(u, a)
	if a.flags&unix.CLONE_PIDFD != 0 {
		var b [4]byte
		put32(b[:], uint32(c.openPid(q.PID, false)))
		c.write(a.pidfd, b[:])
	}
	if a.flags&unix.CLONE_CLEAR_SIGHAND != 0 {
		for i := range q.actions {
			if q.actions[i].handler != sigIgn {
				q.actions[i] = sigaction{}
			}
		}
	}
	q.hooks.ThreadStart(u, c.t.ID)
	c.p.fam.woke = true
	if a.flags&unix.CLONE_VFORK == 0 {
		return int64(q.PID)
	}
	// The parent goes on when the child has executed a program, or ended.
	t := c.t
	q.release = func() {
		q.release = nil
		t.complete(int64(q.PID))
	}
	return t.block(&wait{what: c.row.name, solid: true, try: func() int64 { return blocked }})
}

// killOther sends signal n to another process of the family, or, if pid is
// negative, to a group; -1 is everybody else. ok is false if there is none.
func (c *call) killOther(pid, n int) (r int64, ok bool) {
	f := c.p.fam
	r = fail(unix.ESRCH)
	takes := func(number, group int) bool {
		return number == pid || pid == -1 && number != c.p.PID || pid < -1 && group == -pid || pid == 0 && group == c.p.pgid
	}
	for _, q := range append([]*Process(nil), f.members...) {
		if takes(q.PID, q.pgid) && !q.exited {
			c.killOne(q, n)
			r = 0
		}
		for _, k := range append([]*child(nil), q.children...) {
			switch {
			case k.p != nil || !takes(k.pid, k.pgid):
			case k.ended:
				r = 0
			case k.host != 0:
				r = status(unix.Kill(k.host, unix.Signal(n)))
			}
		}
	}
	return r, r == 0
}

// killOne sends signal n to a process.
func (c *call) killOne(q *Process, n int) {
	if n == 0 {
		return
	}
	to := (*Thread)(nil)
	info := siginfo{signo: n, code: siUser, pid: c.p.PID, uid: c.p.cred.uid[0]}
	if q == c.p {
		info.from = c.t.ID
		if !c.t.mask.has(n) {
			to = c.t // as Linux prefers the caller if it can take it
		}
	}
	q.sendProcess(info, to)
}
