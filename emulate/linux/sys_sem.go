package linux

import (
	"golang.org/x/sys/unix"
)

// A semSet is a set of System V semaphores.
type semSet struct {
	ipcObject
	values []int
	pids   []int
	opTime int64
	wait   []*Thread
}

func sysSemget(c *call) int64 {
	s := c.p.fam.ipc()
	key, n, flags := c.int(0), c.int(1), c.int(2)
	if n < 0 || n > maxSems {
		return fail(unix.EINVAL)
	}
	x, e := ipcGet(s.sem, func(x *semSet) *ipcObject { return &x.ipcObject }, key, flags)
	switch {
	case e != 0:
		return fail(e)
	case x != nil && n > len(x.values):
		return fail(unix.EINVAL)
	case x != nil:
		return int64(x.id)
	case n == 0:
		return fail(unix.EINVAL)
	}
	x = &semSet{ipcObject: c.newIPC(key, flags), values: make([]int, n), pids: make([]int, n)}
	s.sem[x.id] = x
	return int64(x.id)
}

// releaseSem is the rel of operations on semaphores.
func releaseSem(c *call) []Object {
	if x := c.p.fam.ipc().sem[c.int(0)]; x != nil {
		return []Object{{ObjChannel, x.channel}}
	}
	return nil
}

// semop does the operations of an array of struct sembuf: num, op, flags.
func (c *call) semop(timeout uint64) int64 {
	x := c.p.fam.ipc().sem[c.int(0)]
	n := c.args[2]
	switch {
	case x == nil && c.deadline != 0:
		return fail(unix.EIDRM)
	case x == nil, n == 0:
		return fail(unix.EINVAL)
	case n > maxSemOps:
		return fail(unix.E2BIG)
	}
	if timeout != 0 {
		if e := c.timeoutSpec(timeout); e != 0 {
			return fail(e)
		}
	} else {
		c.deadline = never
	}
	b := make([]byte, 6*n)
	if e := c.read(c.args[1], b); e != 0 {
		return fail(e)
	}
	values := append([]int(nil), x.values...)
	for i := 0; i < len(b); i += 6 {
		num, op, flags := int(le16(b[i:])), int(int16(le16(b[i+2:]))), int(le16(b[i+4:]))
		if num >= len(values) {
			return fail(unix.EFBIG)
		}
		v := &values[num]
		if op == 0 && *v != 0 || op < 0 && *v+op < 0 {
			if flags&ipcNoWait != 0 {
				return fail(unix.EAGAIN)
			}
			return c.ipcWait(&x.wait, func() int64 { return c.semop(timeout) })
		}
		if *v += op; *v > maxSemValue {
			return fail(unix.ERANGE)
		}
	}
	for i := 0; i < len(b); i += 6 {
		num, op, flags := int(le16(b[i:])), int(int16(le16(b[i+2:]))), int(le16(b[i+4:]))
		x.pids[num] = c.p.PID
		if flags&semUndo != 0 && op != 0 {
			c.p.undo(x, num, -op)
		}
	}
	x.values = values
	x.opTime = c.seconds()
	c.acquire(Object{ObjChannel, x.channel})
	wakeAll(&x.wait)
	return 0
}

// semUndo asks to undo an operation when the process ends.
const semUndo = 0x1000

// A semUndoing is what is to be added to a semaphore when a process ends.
type semUndoing struct {
	set *semSet
	num int
	add int
}

// undo notes that add is to be added to a semaphore when p ends.
func (p *Process) undo(x *semSet, num, add int) {
	for i := range p.undos {
		if u := &p.undos[i]; u.set == x && u.num == num {
			u.add += add
			return
		}
	}
	p.undos = append(p.undos, semUndoing{x, num, add})
}

// undoAll is done when p ends.
func (p *Process) undoAll() {
	for _, u := range p.undos {
		if !u.set.removed {
			u.set.values[u.num] = max(u.set.values[u.num]+u.add, 0)
			wakeAll(&u.set.wait)
		}
	}
	p.undos = nil
}

// Commands of semctl.
const (
	semGetPID  = 11
	semGetVal  = 12
	semGetAll  = 13
	semGetNCnt = 14
	semGetZCnt = 15
	semSetVal  = 16
	semSetAll  = 17
	semStat    = 18
)

func sysSemctl(c *call) int64 {
	s := c.p.fam.ipc()
	x := s.sem[c.int(0)]
	if x == nil {
		return fail(unix.EINVAL)
	}
	num, cmd := c.int(1), c.int(2)&^0x100
	switch cmd {
	case semGetPID, semGetVal, semGetNCnt, semGetZCnt, semSetVal:
		if num < 0 || num >= len(x.values) {
			return fail(unix.EINVAL)
		}
	}
	switch cmd {
	case ipcRmid:
		x.removed = true
		delete(s.sem, x.id)
		wakeRemoved(&x.wait)
		return 0
	case ipcStat, semStat:
		// struct semid64_ds: perm, otime, _, ctime, _, nsems.
		var b [104]byte
		x.put(b[:])
		put64(b[48:], uint64(x.opTime))
		put64(b[64:], uint64(x.changed))
		put64(b[80:], uint64(len(x.values)))
		return c.answer(c.args[3], b[:], 0)
	case ipcSet:
		var b [ipcPermSize]byte
		if e := c.read(c.args[3], b[:]); e != 0 {
			return fail(e)
		}
		x.set(b[:], c.seconds())
		return 0
	case semGetVal:
		c.acquire(Object{ObjChannel, x.channel})
		return int64(x.values[num])
	case semGetPID:
		return int64(x.pids[num])
	case semGetNCnt, semGetZCnt:
		return int64(len(x.wait))
	case semSetVal:
		v := c.int(3)
		if v < 0 || v > maxSemValue {
			return fail(unix.ERANGE)
		}
		x.values[num], x.pids[num], x.changed = v, c.p.PID, c.seconds()
		wakeAll(&x.wait)
		return 0
	case semGetAll:
		b := make([]byte, 2*len(x.values))
		for i, v := range x.values {
			put16(b[2*i:], uint16(v))
		}
		return c.answer(c.args[3], b, 0)
	case semSetAll:
		b := make([]byte, 2*len(x.values))
		if e := c.read(c.args[3], b); e != 0 {
			return fail(e)
		}
		for i := range x.values {
			if le16(b[2*i:]) > maxSemValue {
				return fail(unix.ERANGE)
			}
		}
		for i := range x.values {
			x.values[i] = int(le16(b[2*i:]))
		}
		x.changed = c.seconds()
		wakeAll(&x.wait)
		return 0
	}
	return fail(unix.EINVAL)
}
