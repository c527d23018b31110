package linux

import (
	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate/x86"
)

func init() {
	addCalls([]sysRow{
		{nr: 60, name: "exit", args: "status", fn: sysExit, rel: releaseSelf},
		{nr: 231, name: "exit_group", args: "status", fn: sysExitGroup},
		{nr: 218, name: "set_tid_address", args: "tidptr", fn: sysSetTidAddress},
		{nr: 273, name: "set_robust_list", args: "head, n", fn: sysSetRobustList},
		{nr: 274, name: "get_robust_list", args: "tid, >head, >n", fn: sysGetRobustList},
		{nr: 334, name: "rseq", args: "~rseq, n, flags, sig", refuse: unix.ENOSYS},
		{nr: 158, name: "arch_prctl", args: "op, addr", fn: sysArchPrctl},
		{nr: 157, name: "prctl", args: "op, …", fn: sysPrctl,
			note: "names, death signal, dumpable, no_new_privs, timer slack, seccomp mode; else EINVAL"},
		{nr: 324, name: "membarrier", args: "cmd, flags, cpu", fn: sysMembarrier},
		{nr: 24, name: "sched_yield", fn: sysYield},
		{nr: 203, name: "sched_setaffinity", args: "tid, n, <mask", fn: sysSetaffinity},
		{nr: 204, name: "sched_getaffinity", args: "tid, n, >mask", fn: sysGetaffinity},
		{nr: 144, name: "sched_setscheduler", args: "tid, policy, <param", fn: sysSetscheduler,
			note: "accepts only SCHED_OTHER and its like"},
		{nr: 145, name: "sched_getscheduler", args: "tid", fn: sysGetscheduler},
		{nr: 142, name: "sched_setparam", args: "tid, <param", fn: answer0},
		{nr: 143, name: "sched_getparam", args: "tid, >param", fn: sysGetparam},
		{nr: 146, name: "sched_get_priority_max", args: "policy", fn: sysPriorityMax},
		{nr: 147, name: "sched_get_priority_min", args: "policy", fn: sysPriorityMin},
		{nr: 148, name: "sched_rr_get_interval", args: "tid, >interval", fn: sysRRInterval},
		{nr: 314, name: "sched_setattr", args: "tid, <attr, flags", fn: answer0, note: "does nothing"},
		{nr: 315, name: "sched_getattr", args: "tid, >attr, n, flags", refuse: unix.ENOSYS},
		{nr: 309, name: "getcpu", args: ">cpu, >node", fn: sysGetcpu},
		{nr: 140, name: "getpriority", args: "which, who", fn: func(*call) int64 { return 20 }},
		{nr: 141, name: "setpriority", args: "which, who, prio", fn: answer0, note: "does nothing"},
		{nr: 251, name: "ioprio_set", args: "which, who, prio", fn: answer0, note: "does nothing"},
		{nr: 252, name: "ioprio_get", args: "which, who", fn: answer0},
	})
}

func releaseSelf(c *call) []Object {
	rel := []Object{{ObjThread, uint64(c.t.ID)}}
	if c.t.clearTID != 0 {
		rel = append(rel, c.p.addrObject(c.t.clearTID))
	}
	return rel
}

func sysExit(c *call) int64 {
	p := c.p
	code := c.int(0) & 0xff
	if len(p.threads) == 1 {
		p.status.Code = code
	}
	p.exitThread(c.t, code)
	return noReturn
}

func sysExitGroup(c *call) int64 {
	c.p.exit(ExitStatus{Code: c.int(0) & 0xff})
	return noReturn
}

func sysSetTidAddress(c *call) int64 {
	c.t.clearTID = c.args[0]
	return int64(c.t.TID)
}

func sysSetRobustList(c *call) int64 {
	if c.args[1] != 24 {
		return fail(unix.EINVAL)
	}
	c.t.robust = c.args[0]
	return 0
}

func sysGetRobustList(c *call) int64 {
	t := c.t
	if c.args[0] != 0 {
		if t = c.p.thread(c.int(0)); t == nil {
			return fail(unix.ESRCH)
		}
	}
	var b [8]byte
	put64(b[:], t.robust)
	if e := c.write(c.args[1], b[:]); e != 0 {
		return fail(e)
	}
	put64(b[:], 24)
	return c.answer(c.args[2], b[:], 0)
}

// arch_prctl operations.
const (
	archSetGS = 0x1001
	archSetFS = 0x1002
	archGetFS = 0x1003
	archGetGS = 0x1004
)

func sysArchPrctl(c *call) int64 {
	r := &c.t.CPU.R
	var b [8]byte
	switch c.int(0) {
	case archSetFS, archSetGS:
		if c.args[1] >= taskSize {
			return fail(unix.EPERM)
		}
		if c.int(0) == archSetFS {
			r[x86.RegFS] = c.args[1]
		} else {
			r[x86.RegGS] = c.args[1]
		}
		return 0 // the exit tells what became of the registers
	case archGetFS:
		put64(b[:], r[x86.RegFS])
		return c.answer(c.args[1], b[:], 0)
	case archGetGS:
		put64(b[:], r[x86.RegGS])
		return c.answer(c.args[1], b[:], 0)
	}
	return fail(unix.EINVAL)
}

func sysPrctl(c *call) int64 {
	switch c.int(0) {
	case unix.PR_SET_NAME:
		s, e := c.p.AS.cstring(c.args[1], 16)
		if e == unix.ENAMETOOLONG {
			var b [15]byte
			e = c.read(c.args[1], b[:])
			s = string(b[:])
		}
		if e != 0 {
			return fail(e)
		}
		c.t.Name = truncName(s)
		return 0
	case unix.PR_GET_NAME:
		var b [16]byte
		copy(b[:15], c.t.Name)
		return c.answer(c.args[1], b[:], 0)
	case unix.PR_SET_PDEATHSIG:
		if c.args[1] > maxSignal {
			return fail(unix.EINVAL)
		}
		c.p.death = c.int(1)
		return 0
	case unix.PR_GET_PDEATHSIG:
		var b [4]byte
		put32(b[:], uint32(c.p.death))
		return c.answer(c.args[1], b[:], 0)
	case unix.PR_GET_DUMPABLE:
		return 1
	case unix.PR_SET_DUMPABLE, unix.PR_SET_NO_NEW_PRIVS, unix.PR_SET_TIMERSLACK,
		unix.PR_SET_KEEPCAPS, unix.PR_SET_PTRACER, unix.PR_SET_THP_DISABLE, unix.PR_SET_CHILD_SUBREAPER:
		return 0
	case unix.PR_GET_TIMERSLACK:
		return timerSlack
	case unix.PR_CAPBSET_READ:
		if c.args[1] > unix.CAP_LAST_CAP {
			return fail(unix.EINVAL)
		}
		return int64(ourCaps >> c.args[1] & 1)
	case unix.PR_GET_SECCOMP, unix.PR_GET_NO_NEW_PRIVS, unix.PR_GET_KEEPCAPS:
		return 0
	}
	return fail(unix.EINVAL)
}

// membarrier commands.
const (
	mbQuery          = 0
	mbGlobal         = 1
	mbGlobalExp      = 2
	mbRegGlobal      = 4
	mbPrivate        = 8
	mbRegPrivate     = 16
	mbPrivateCore    = 32
	mbRegPrivateCore = 64
)

// One thread runs at a time, in program order: every barrier holds already.
func sysMembarrier(c *call) int64 {
	switch c.int(0) {
	case mbQuery:
		return mbGlobal | mbGlobalExp | mbRegGlobal | mbPrivate | mbRegPrivate | mbPrivateCore | mbRegPrivateCore
	case mbRegPrivate, mbRegPrivateCore, mbRegGlobal:
		c.p.private = true
		return 0
	case mbGlobal, mbGlobalExp:
		return 0
	case mbPrivate, mbPrivateCore:
		if !c.p.private {
			return fail(unix.EPERM)
		}
		return 0
	}
	return fail(unix.EINVAL)
}

func sysYield(c *call) int64 {
	c.p.sched.yield(c.t)
	c.p.fam.woke = true // ends the slice, by and large
	return 0
}

// target is the thread that argument i names; 0 is the caller.
func (c *call) target(i int) *Thread {
	if c.int(i) == 0 {
		return c.t
	}
	return c.p.thread(c.int(i))
}

func sysSetaffinity(c *call) int64 {
	t := c.target(0)
	if t == nil {
		return fail(unix.ESRCH)
	}
	var b [8]byte
	if e := c.read(c.args[2], b[:min(c.args[1], 8)]); e != 0 {
		return fail(e)
	}
	mask := le64(b[:]) & c.p.allUnits()
	if mask == 0 {
		return fail(unix.EINVAL)
	}
	t.affinity = mask
	if mask>>t.unit&1 == 0 {
		c.p.sched.place(t)
		c.p.sched.moved = c.p.sched.moved || t == c.t
	}
	return 0
}

func sysGetaffinity(c *call) int64 {
	t := c.target(0)
	if t == nil {
		return fail(unix.ESRCH)
	}
	if c.args[1] < 8 || c.args[1]&7 != 0 {
		return fail(unix.EINVAL)
	}
	var b [8]byte
	put64(b[:], t.affinity)
	return c.answer(c.args[2], b[:], 8)
}

func sysSetscheduler(c *call) int64 {
	t := c.target(0)
	if t == nil {
		return fail(unix.ESRCH)
	}
	switch policy := c.int(1) &^ 0x40000000; policy {
	case 0, 3, 5: // SCHED_OTHER, SCHED_BATCH, SCHED_IDLE
		t.policy = policy
		return 0
	case 1, 2:
		return fail(unix.EPERM)
	}
	return fail(unix.EINVAL)
}

func sysGetscheduler(c *call) int64 {
	if t := c.target(0); t != nil {
		return int64(t.policy)
	}
	return fail(unix.ESRCH)
}

func sysGetparam(c *call) int64 { return c.answer(c.args[1], make([]byte, 4), 0) }

func sysPriorityMax(c *call) int64 { return priority(c.int(0), 99) }
func sysPriorityMin(c *call) int64 { return priority(c.int(0), 1) }

func priority(policy int, realtime int64) int64 {
	switch policy {
	case 1, 2:
		return realtime
	case 0, 3, 5, 6:
		return 0
	}
	return fail(unix.EINVAL)
}

func sysRRInterval(c *call) int64 {
	return -int64(c.putTimespec(c.args[1], 4e6))
}

func sysGetcpu(c *call) int64 {
	var b [4]byte
	if c.args[1] != 0 {
		if e := c.write(c.args[1], b[:]); e != 0 {
			return fail(e)
		}
	}
	put32(b[:], uint32(c.t.unit))
	if c.args[0] != 0 {
		return c.answer(c.args[0], b[:], 0)
	}
	return 0
}
