package linux

import (
	"math"

	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 73, name: "flock", args: "fd, op", fn: sysFlock, rel: releaseFlock},
	})
}

// All processes of a family are one process for the host, so that its record
// locks wouldn't keep them apart. Which process has which lock stands in
// fileLocks; for others on the host, each process has the same locks on an open
// file description of its own (F_OFD_SETLK), the keeper. Locks that belong to an
// open file description (F_OFD_…, flock) are the host's: the guest's descriptions
// are its own.

// fileLocks are the record locks that the family has on one file.
type fileLocks struct {
	held    []recordLock
	keepers map[*Process]int // host descriptors
}

// A recordLock is a process's lock on the bytes [start, end) of a file.
type recordLock struct {
	p          *Process
	typ        int16 // F_RDLCK, F_WRLCK
	start, end int64
}

// conflicts reports whether both can't be held at the same time.
func (l *recordLock) conflicts(m *recordLock) bool {
	return l.p != m.p && (l.typ == unix.F_WRLCK || m.typ == unix.F_WRLCK) && l.start < m.end && m.start < l.end
}

// first returns the lock with the lowest start that keeps l from being taken.
func (f *fileLocks) first(l *recordLock) *recordLock {
	var found *recordLock
	for i := range f.held {
		if h := &f.held[i]; h.conflicts(l) && (found == nil || h.start < found.start) {
			found = h
		}
	}
	return found
}

// set gives l.p the lock l and takes what it had there; F_UNLCK only takes.
func (f *fileLocks) set(l recordLock) {
	var keep []recordLock
	for _, h := range f.held {
		if h.p != l.p || h.end <= l.start || l.end <= h.start {
			keep = append(keep, h)
			continue
		}
		if h.start < l.start {
			keep = append(keep, recordLock{h.p, h.typ, h.start, l.start})
		}
		if h.end > l.end {
			keep = append(keep, recordLock{h.p, h.typ, l.end, h.end})
		}
	}
	if l.typ != unix.F_UNLCK {
		keep = append(keep, l)
	}
	f.held = keep
}

// keeper returns the host descriptor that has p's locks on the file of d.
func (f *fileLocks) keeper(p *Process, d *descriptor) (int, unix.Errno) {
	if fd, ok := f.keepers[p]; ok {
		return fd, 0
	}
	fl, err := unix.FcntlInt(uintptr(d.host), unix.F_GETFL, 0)
	if err != nil {
		return -1, err.(unix.Errno)
	}
	p.AS.yieldAll()
	defer p.AS.listenFiles(true)
	for _, mode := range []int{unix.O_RDWR, fl & unix.O_ACCMODE} {
		fd, err := unix.Open(procFD(d.host), mode|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
		if err != nil {
			continue
		}
		own, err := dupHost(fd)
		unix.Close(fd)
		if err != nil {
			return -1, err.(unix.Errno)
		}
		if f.keepers == nil {
			f.keepers = map[*Process]int{}
		}
		f.keepers[p] = own
		return own, 0
	}
	return -1, unix.ENOLCK
}

// A lockWait is a process that waits for a record lock.
type lockWait struct {
	lock  recordLock
	locks *fileLocks
}

// deadlocks reports whether p would wait for somebody who waits for p.
func (f *family) deadlocks(p *Process, w lockWait, depth int) bool {
	for i := range w.locks.held {
		h := &w.locks.held[i]
		if !h.conflicts(&w.lock) {
			continue
		}
		if h.p == p {
			return true
		}
		for _, v := range f.lockWaits {
			if v.lock.p == h.p && depth < len(f.lockWaits) && f.deadlocks(p, *v, depth+1) {
				return true
			}
		}
	}
	return false
}

// wakeLocks wakes who waits for a lock: one was given back.
func (f *family) wakeLocks() {
	for _, p := range f.members {
		for _, t := range p.threads {
			if t.state == threadBlocked && t.wait.locks {
				t.wake()
			}
		}
	}
}

// dropLocks ends p's record locks on the file of d, as closing any descriptor of
// the file does (fcntl(2)).
func (p *Process) dropLocks(d *descriptor) {
	f := p.fam
	if len(f.locks) == 0 || !d.file.reg {
		return
	}
	key, ok := lockKey(d)
	l := f.locks[key]
	if !ok || l == nil {
		return
	}
	l.set(recordLock{p, unix.F_UNLCK, 0, math.MaxInt64})
	if fd, ok := l.keepers[p]; ok {
		unix.Close(fd)
		delete(l.keepers, p)
	}
	if len(l.held) == 0 && len(l.keepers) == 0 {
		delete(f.locks, key)
	}
}

// lockKey tells the file of d from others.
func lockKey(d *descriptor) (backKey, bool) {
	var st unix.Stat_t
	if unix.Fstat(d.host, &st) != nil {
		return backKey{}, false
	}
	return backKey{st.Dev, st.Ino}, true
}

// flockSize is that of struct flock.
const flockSize = 32

// readFlock reads the struct flock at addr: type, whence, start, length.
func (c *call) readFlock(addr uint64) (l unix.Flock_t, e unix.Errno) {
	var b [flockSize]byte
	e = c.read(addr, b[:])
	return unix.Flock_t{Type: int16(le16(b[0:])), Whence: int16(le16(b[2:])), Start: int64(le64(b[8:])),
		Len: int64(le64(b[16:])), Pid: int32(le32(b[24:]))}, e
}

func (c *call) writeFlock(addr uint64, l unix.Flock_t) int64 {
	var b [flockSize]byte
	if e := c.read(addr, b[:]); e != 0 { // padding stays
		return fail(e)
	}
	put16(b[0:], uint16(l.Type))
	if l.Type != unix.F_UNLCK {
		put16(b[2:], uint16(l.Whence))
		put64(b[8:], uint64(l.Start))
		put64(b[16:], uint64(l.Len))
		put32(b[24:], uint32(l.Pid))
	}
	return c.answer(addr, b[:], 0)
}

// lockSpan is the bytes [start, end) that l is for in the file of d.
func lockSpan(d *descriptor, l *unix.Flock_t) (start, end int64, e unix.Errno) {
	var base int64
	switch l.Whence {
	case unix.SEEK_SET:
	case unix.SEEK_CUR:
		base, _ = unix.Seek(d.host, 0, unix.SEEK_CUR)
	case unix.SEEK_END:
		var st unix.Stat_t
		if err := unix.Fstat(d.host, &st); err != nil {
			return 0, 0, err.(unix.Errno)
		}
		base = st.Size
	default:
		return 0, 0, unix.EINVAL
	}
	if l.Start > 0 && base > math.MaxInt64-l.Start {
		return 0, 0, unix.EOVERFLOW
	}
	start = base + l.Start
	switch {
	case start < 0:
		return 0, 0, unix.EINVAL
	case l.Len == 0:
		return start, math.MaxInt64, 0
	case l.Len > 0:
		if start > math.MaxInt64-l.Len {
			return 0, 0, unix.EOVERFLOW
		}
		return start, start + l.Len, 0
	case start+l.Len < 0:
		return 0, 0, unix.EINVAL
	}
	return start + l.Len, start, 0
}

// length is Flock_t.Len of a lock up to end.
func length(start, end int64) int64 {
	if end == math.MaxInt64 {
		return 0
	}
	return end - start
}

// lock is fcntl(2) with a command for record locks.
func (c *call) lock(d *descriptor, cmd int) int64 {
	l, e := c.readFlock(c.args[2])
	if e != 0 {
		return fail(e)
	}
	if !d.file.reg || cmd == unix.F_OFD_GETLK || cmd == unix.F_OFD_SETLK || cmd == unix.F_OFD_SETLKW {
		return c.hostLock(d, cmd, l)
	}
	if l.Type != unix.F_RDLCK && l.Type != unix.F_WRLCK && l.Type != unix.F_UNLCK {
		return fail(unix.EINVAL)
	}
	start, end, e := lockSpan(d, &l)
	if e != 0 {
		return fail(e)
	}
	fl, err := unix.FcntlInt(uintptr(d.host), unix.F_GETFL, 0)
	if err != nil {
		return status(err)
	}
	if acc := fl & unix.O_ACCMODE; fl&unix.O_PATH != 0 || cmd != unix.F_GETLK &&
		(l.Type == unix.F_RDLCK && acc == unix.O_WRONLY || l.Type == unix.F_WRLCK && acc == unix.O_RDONLY) {
		return fail(unix.EBADF)
	}
	key, ok := lockKey(d)
	if !ok {
		return fail(unix.ENOLCK)
	}
	f := c.p.fam
	locks := f.locks[key]
	if locks == nil {
		locks = new(fileLocks)
	}
	want := recordLock{c.p, l.Type, start, end}
	if cmd == unix.F_GETLK {
		return c.testLock(d, locks, &want, l)
	}
	return c.setLock(d, cmd, key, locks, want)
}

// testLock answers F_GETLK with what keeps want from being taken.
func (c *call) testLock(d *descriptor, locks *fileLocks, want *recordLock, l unix.Flock_t) int64 {
	if want.typ == unix.F_UNLCK {
		return fail(unix.EINVAL)
	}
	if h := locks.first(want); h != nil {
		return c.writeFlock(c.args[2], unix.Flock_t{Type: h.typ, Start: h.start, Len: length(h.start, h.end), Pid: int32(h.p.PID)})
	}
	l.Whence, l.Start, l.Len, l.Pid = unix.SEEK_SET, want.start, length(want.start, want.end), 0
	fd, cmd := d.host, unix.F_GETLK
	if k, ok := locks.keepers[c.p]; ok {
		fd, cmd = k, unix.F_OFD_GETLK
	}
	if err := unix.FcntlFlock(uintptr(fd), cmd, &l); err != nil {
		return status(err)
	}
	return c.writeFlock(c.args[2], l)
}

// setLock takes or gives back a record lock.
func (c *call) setLock(d *descriptor, cmd int, key backKey, locks *fileLocks, want recordLock) int64 {
	f, p := c.p.fam, c.p
	patient := cmd == unix.F_SETLKW
	if want.typ != unix.F_UNLCK && locks.first(&want) != nil {
		if !patient {
			return fail(unix.EAGAIN)
		}
		w := &lockWait{want, locks}
		if f.deadlocks(p, *w, 0) {
			return fail(unix.EDEADLK)
		}
		f.lockWaits = append(f.lockWaits, w)
		return c.t.block(&wait{what: c.row.name, locks: true, undo: func() { f.waitEnds(w) }})
	}
	if want.typ != unix.F_UNLCK || locks.keepers[p] != 0 {
		fd, e := locks.keeper(p, d)
		if e != 0 {
			return fail(e)
		}
		h := unix.Flock_t{Type: want.typ, Start: want.start, Len: length(want.start, want.end)}
		if err := unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &h); err == unix.EAGAIN && patient {
			return c.again(func() int64 { return c.lock(d, cmd) })
		} else if err != nil {
			return status(err)
		}
		if f.locks == nil {
			f.locks = map[backKey]*fileLocks{}
		}
		f.locks[key] = locks
	}
	locks.set(want)
	if want.typ != unix.F_UNLCK {
		c.acquireLocks(key, p)
	}
	f.wakeLocks() // also a write lock that became a read lock lets others in
	return 0
}

// waitEnds forgets a wait.
func (f *family) waitEnds(w *lockWait) {
	for i, v := range f.lockWaits {
		if v == w {
			f.lockWaits = append(f.lockWaits[:i], f.lockWaits[i+1:]...)
			return
		}
	}
}

// hostLock takes a lock that belongs to the open file description, or that isn't
// on a file, from the host.
func (c *call) hostLock(d *descriptor, cmd int, l unix.Flock_t) int64 {
	try := cmd
	switch cmd {
	case unix.F_SETLKW:
		try = unix.F_SETLK
	case unix.F_OFD_SETLKW:
		try = unix.F_OFD_SETLK
	}
	err := unix.FcntlFlock(uintptr(d.host), try, &l)
	switch {
	case err == unix.EAGAIN && try != cmd:
		return c.waitLock(func() int64 { return c.lock(d, cmd) })
	case err != nil:
		return status(err)
	case cmd == unix.F_GETLK || cmd == unix.F_OFD_GETLK:
		return c.writeFlock(c.args[2], l)
	}
	c.lockChanged(d, l.Type != unix.F_UNLCK)
	return 0
}

// lockChanged notes that the open file description of d took a lock, or gave one
// back.
func (c *call) lockChanged(d *descriptor, took bool) {
	if took {
		d.file.locked = true
		if key, ok := lockKey(d); ok {
			c.acquireLocks(key, d.file)
		}
	}
	c.p.fam.wakeLocks()
}

// waitLock waits until somebody here gives a lock back, or, for others on the
// host, a while.
func (c *call) waitLock(try func() int64) int64 {
	return c.t.block(&wait{what: c.row.name, locks: true, deadline: c.p.Now() + 1e6, outside: true, onTimeout: try, try: try})
}

func sysFlock(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	err := unix.Flock(d.host, c.int(1)|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK && c.int(1)&unix.LOCK_NB == 0 {
		return c.waitLock(func() int64 { return sysFlock(c) })
	}
	if err == nil {
		c.lockChanged(d, c.int(1)&unix.LOCK_UN == 0)
	}
	return status(err)
}

// What orders those who lock a file one after the other: who gives a lock back
// releases a channel of its own, who takes one acquires those of all others. A
// process's record locks don't keep its own threads apart, nor the locks of an
// open file description those that share it.

// A lockChannel is the channel of one owner of locks on a file.
type lockChannel struct {
	key   backKey
	owner any // *Process, *file
	id    uint64
}

// lockChannel returns the channel of owner's locks on a file.
func (f *family) lockChannel(key backKey, owner any) Object {
	for _, l := range f.lockChans {
		if l.key == key && l.owner == owner {
			return Object{ObjChannel, l.id}
		}
	}
	f.chans++
	f.lockChans = append(f.lockChans, lockChannel{key, owner, f.chans})
	return Object{ObjChannel, f.chans}
}

// acquireLocks notes that owner has taken a lock on a file.
func (c *call) acquireLocks(key backKey, owner any) {
	for _, l := range c.p.fam.lockChans {
		if l.key == key && l.owner != owner {
			c.acquire(Object{ObjChannel, l.id})
		}
	}
}

// releaseLocks gives what fcntl releases: the process's, or description's, locks.
func releaseLocks(c *call) []Object {
	cmd := c.int(1)
	ofd := cmd == unix.F_OFD_SETLK || cmd == unix.F_OFD_SETLKW
	d := c.fd(0)
	if d == nil || !d.file.reg || !ofd && cmd != unix.F_SETLK && cmd != unix.F_SETLKW {
		return nil
	}
	var b [2]byte
	if c.p.AS.read(c.args[2], b[:]) != 0 || int16(le16(b[:])) == unix.F_WRLCK {
		return nil
	}
	key, ok := lockKey(d)
	l := c.p.fam.locks[key]
	switch {
	case !ok, !ofd && (l == nil || l.keepers[c.p] == 0), ofd && !d.file.locked:
		return nil
	case ofd:
		return []Object{c.p.fam.lockChannel(key, d.file)}
	}
	return []Object{c.p.fam.lockChannel(key, c.p)}
}

func releaseFlock(c *call) []Object {
	d := c.fd(0)
	if d == nil || !d.file.locked {
		return nil
	}
	if key, ok := lockKey(d); ok {
		return []Object{c.p.fam.lockChannel(key, d.file)}
	}
	return nil
}

// releaseClosed gives what close releases: what was written, and locks.
func releaseClosed(c *call) []Object {
	rel := append(releaseOut(c), releaseFlock(c)...)
	if d := c.fd(0); d != nil && d.file.reg && len(c.p.fam.locks) > 0 {
		key, ok := lockKey(d)
		if l := c.p.fam.locks[key]; ok && l != nil && l.keepers[c.p] != 0 {
			rel = append(rel, c.p.fam.lockChannel(key, c.p))
		}
	}
	return rel
}
