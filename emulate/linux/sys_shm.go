package linux

import (
	"golang.org/x/sys/unix"
)

// A shmSegment is a System V shared memory segment.
type shmSegment struct {
	ipcObject
	size               uint64
	back               *backing
	lastPID            int
	attachedT, detachT int64
}

func sysShmget(c *call) int64 {
	s := c.p.fam.ipc()
	key, n, flags := c.int(0), c.args[1], c.int(2)
	x, e := ipcGet(s.shm, func(x *shmSegment) *ipcObject { return &x.ipcObject }, key, flags)
	switch {
	case e != 0:
		return fail(e)
	case x != nil && n > x.size:
		return fail(unix.EINVAL)
	case x != nil:
		return int64(x.id)
	case n == 0 || n > taskSize/2:
		return fail(unix.EINVAL)
	}
	x = &shmSegment{ipcObject: c.newIPC(key, flags), size: n, back: c.p.AS.anonBacking()}
	x.back.path = "/SYSV" + hex8(uint32(key)) + " (deleted)"
	x.back.vmas++ // the segment's own
	x.back.segment = x
	s.shm[x.id] = x
	return int64(x.id)
}

func hex8(v uint32) string {
	const digits = "0123456789abcdef"
	var b [8]byte
	for i := range b {
		b[i] = digits[v>>(28-4*i)&15]
	}
	return string(b[:])
}

func sysShmat(c *call) int64 {
	x := c.p.fam.ipc().shm[c.int(0)]
	if x == nil {
		return fail(unix.EINVAL)
	}
	const rdonly, rnd, remap, exec = 0o10000, 0o20000, 0o40000, 0o100000
	addr, flags, n := c.args[1], c.int(2), up(x.size)
	as := c.p.AS
	if addr != 0 {
		if flags&rnd != 0 {
			addr &^= pageMask
		}
		if addr&pageMask != 0 || addr < mmapLow || addr+n > taskSize || flags&remap == 0 && !as.vmas.free(addr, addr+n) {
			return fail(unix.EINVAL)
		}
	} else {
		var e unix.Errno
		if addr, e = as.pick(0, n); e != 0 {
			return fail(e)
		}
	}
	prot := unix.PROT_READ | unix.PROT_WRITE
	if flags&rdonly != 0 {
		prot = unix.PROT_READ
	}
	if flags&exec != 0 {
		prot |= unix.PROT_EXEC
	}
	as.place(&vma{start: addr, end: addr + n, prot: prot, shared: true, back: x.back})
	x.attachedT, x.lastPID = c.seconds(), c.p.PID
	return int64(addr)
}

func sysShmdt(c *call) int64 {
	as := c.p.AS
	v := as.vmas.find(c.args[0])
	if v == nil || v.start != c.args[0] || v.back == nil || v.back.segment == nil || v.off != 0 {
		return fail(unix.EINVAL)
	}
	x := v.back.segment
	x.detachT, x.lastPID = c.seconds(), c.p.PID
	as.unmap(v.start, v.start+up(x.size))
	return 0
}

func sysShmctl(c *call) int64 {
	f := c.p.fam
	x := f.ipc().shm[c.int(0)]
	const stat, info, size = 13, 14, 112
	cmd := c.int(1) &^ 0x100 // IPC_64
	switch {
	case cmd == ipcInfo, cmd == info:
		return fail(unix.EINVAL)
	case x == nil:
		return fail(unix.EINVAL)
	}
	switch cmd {
	case ipcRmid:
		// Its memory goes with the last mapping.
		x.removed = true
		delete(f.sysv.shm, x.id)
		c.p.AS.release(x.back)
		return 0
	case ipcStat, stat:
		// struct shmid64_ds: perm, size, atime, dtime, ctime, cpid, lpid, nattch.
		var b [size]byte
		x.put(b[:])
		if x.removed {
			put32(b[20:], x.mode|0o1000)
		}
		put64(b[48:], x.size)
		put64(b[56:], uint64(x.attachedT))
		put64(b[64:], uint64(x.detachT))
		put64(b[72:], uint64(x.changed))
		put32(b[80:], uint32(x.creator))
		put32(b[84:], uint32(x.lastPID))
		put64(b[88:], uint64(x.back.vmas-1))
		return c.answer(c.args[2], b[:], 0)
	case ipcSet:
		var b [ipcPermSize]byte
		if e := c.read(c.args[2], b[:]); e != 0 {
			return fail(e)
		}
		x.set(b[:], c.seconds())
		return 0
	case 11, 12: // SHM_LOCK, SHM_UNLOCK
		return 0
	}
	return fail(unix.EINVAL)
}
