package linux

import (
	"golang.org/x/sys/unix"
)

// A msgQueue is a System V message queue.
type msgQueue struct {
	ipcObject
	list           []sysvMessage
	bytes          int
	wait           []*Thread
	sendT, receive int64
	sendP, recvP   int
}

type sysvMessage struct {
	kind int64
	data []byte
}

func sysMsgget(c *call) int64 {
	s := c.p.fam.ipc()
	x, e := ipcGet(s.msg, func(x *msgQueue) *ipcObject { return &x.ipcObject }, c.int(0), c.int(1))
	if e != 0 {
		return fail(e)
	}
	if x == nil {
		x = &msgQueue{ipcObject: c.newIPC(c.int(0), c.int(1))}
		s.msg[x.id] = x
	}
	return int64(x.id)
}

// releaseQueue is the rel of msgsnd.
func releaseQueue(c *call) []Object {
	if x := c.p.fam.ipc().msg[c.int(0)]; x != nil {
		return []Object{{ObjChannel, x.channel}}
	}
	return nil
}

func sysMsgsnd(c *call) int64 {
	x := c.p.fam.ipc().msg[c.int(0)]
	n := c.args[2]
	if x == nil || n > maxMessage {
		return fail(unix.EINVAL)
	}
	var kind [8]byte
	if e := c.read(c.args[1], kind[:]); e != 0 {
		return fail(e)
	}
	if int64(le64(kind[:])) < 1 {
		return fail(unix.EINVAL)
	}
	data := make([]byte, n)
	if e := c.read(c.args[1]+8, data); e != 0 {
		return fail(e)
	}
	if x.bytes+int(n) > maxQueue || len(x.list) >= maxQueue {
		if c.int(3)&ipcNoWait != 0 {
			return fail(unix.EAGAIN)
		}
		c.deadline = never
		return c.ipcWait(&x.wait, func() int64 { return sysMsgsnd(c) })
	}
	x.list = append(x.list, sysvMessage{int64(le64(kind[:])), data})
	x.bytes += int(n)
	x.sendT, x.sendP = c.seconds(), c.p.PID
	wakeAll(&x.wait)
	return 0
}

func sysMsgrcv(c *call) int64 {
	x := c.p.fam.ipc().msg[c.int(0)]
	n, want, flags := c.args[2], int64(c.args[3]), c.int(4)
	const noError, except, copyFlag = 0o10000, 0o20000, 0o40000
	if x == nil || int64(n) < 0 {
		return fail(unix.EINVAL)
	}
	if flags&copyFlag != 0 {
		return fail(unix.ENOSYS)
	}
	best := -1
	for i, m := range x.list {
		switch {
		case want == 0, want > 0 && (m.kind == want) != (flags&except != 0):
			best = i
		case want < 0 && m.kind <= -want && (best < 0 || m.kind < x.list[best].kind):
			best = i
			continue
		default:
			continue
		}
		break
	}
	if best < 0 {
		if flags&ipcNoWait != 0 {
			return fail(unix.ENOMSG)
		}
		c.deadline = never
		return c.ipcWait(&x.wait, func() int64 { return sysMsgrcv(c) })
	}
	m := x.list[best]
	k := uint64(len(m.data))
	if k > n {
		if flags&noError == 0 {
			return fail(unix.E2BIG)
		}
		k = n
	}
	var kind [8]byte
	put64(kind[:], uint64(m.kind))
	if e := c.write(c.args[1], kind[:]); e != 0 {
		return fail(e)
	}
	if e := c.write(c.args[1]+8, m.data[:k]); e != 0 {
		return fail(e)
	}
	x.list = append(x.list[:best], x.list[best+1:]...)
	x.bytes -= len(m.data)
	x.receive, x.recvP = c.seconds(), c.p.PID
	c.acquire(Object{ObjChannel, x.channel})
	wakeAll(&x.wait)
	return int64(k)
}

func sysMsgctl(c *call) int64 {
	s := c.p.fam.ipc()
	x := s.msg[c.int(0)]
	if x == nil {
		return fail(unix.EINVAL)
	}
	switch c.int(1) &^ 0x100 {
	case ipcRmid:
		delete(s.msg, x.id)
		wakeRemoved(&x.wait)
		return 0
	case ipcStat, 11: // MSG_STAT
		// struct msqid64_ds: perm, stime, rtime, ctime, cbytes, qnum, qbytes,
		// lspid, lrpid.
		var b [120]byte
		x.put(b[:])
		put64(b[48:], uint64(x.sendT))
		put64(b[56:], uint64(x.receive))
		put64(b[64:], uint64(x.changed))
		put64(b[72:], uint64(x.bytes))
		put64(b[80:], uint64(len(x.list)))
		put64(b[88:], maxQueue)
		put32(b[96:], uint32(x.sendP))
		put32(b[100:], uint32(x.recvP))
		return c.answer(c.args[2], b[:], 0)
	case ipcSet:
		var b [ipcPermSize]byte
		if e := c.read(c.args[2], b[:]); e != 0 {
			return fail(e)
		}
		x.set(b[:], c.seconds())
		return 0
	}
	return fail(unix.EINVAL)
}
