package detect

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/traces"
)

// Files follows the descriptors of a process: which are open, and which were
// used after they were closed. Those that are inherited aren't known.
type Files struct {
	// Open are the descriptors opened and not closed, by number.
	Open map[int32]*OpenFile
	// Misused are system calls on descriptors that had been closed.
	Misused []FileMisuse

	closed map[int32]FileCall
	never  map[filePlace]bool           // places that also try descriptors that were never open
	tried  map[filePlace]map[int32]bool // closed descriptors that a place tried
	last   map[filePlace]*OpenFile
}

type filePlace struct {
	ctx uint32
	pc  uint64
}

func (c *FileCall) place() filePlace { return filePlace{c.Ctx, c.PC} }

// A FileCall is a system call on a descriptor.
type FileCall struct {
	Thread emulate.ThreadID
	Ctx    uint32
	PC     uint64 // after the system call instruction
	Count  emulate.Count
	Nr     uint64
}

// An OpenFile is a descriptor and how it was opened.
type OpenFile struct {
	FD int32
	FileCall
	Pair bool // the kernel put its number into memory (pipe, socketpair)
	// Next is when the same thread called from the same place next; 0: never.
	Next emulate.Count
}

// A FileMisuse is the use of a closed descriptor.
type FileMisuse struct {
	FD int32
	FileCall
	Closed FileCall
}

// A fileUse says what a system call does to descriptors (Linux, x86-64).
type fileUse uint8

const (
	_         fileUse = iota
	fileOpens         // returns a new one
	filePair          // puts two new ones at the address in its first argument
	filePairs         // …in its fourth
	fileClose         // closes its first argument
	fileRange         // closes a range
	fileOver          // makes its second argument a copy of its first
	fileDup           // returns a copy of its first, depending on the second
	fileUses          // uses its first argument
	fileUses5         // uses its fifth argument, if the fourth isn't MAP_ANONYMOUS
	fileExec          // replaces the program
)

var fileCalls = map[uint64]fileUse{
	2: fileOpens, 85: fileOpens, 257: fileOpens, 437: fileOpens, 304: fileOpens, // open, creat, openat, openat2, open_by_handle_at
	41: fileOpens, 43: fileOpens, 288: fileOpens, // socket, accept, accept4
	213: fileOpens, 291: fileOpens, 284: fileOpens, 290: fileOpens, 282: fileOpens, 289: fileOpens, 283: fileOpens, // epoll_create, eventfd, signalfd, timerfd_create
	253: fileOpens, 294: fileOpens, 319: fileOpens, 434: fileOpens, // inotify_init, memfd_create, pidfd_open
	32: fileOpens, 22: filePair, 293: filePair, 53: filePairs, 33: fileOver, 292: fileOver, 72: fileDup,
	3: fileClose, 436: fileRange, sysExecve: fileExec, sysExecveat: fileExec,
	0: fileUses, 1: fileUses, 8: fileUses, 16: fileUses, 17: fileUses, 18: fileUses, 19: fileUses, 20: fileUses, 40: fileUses, 42: fileUses, 44: fileUses, 45: fileUses,
	46: fileUses, 47: fileUses, 48: fileUses, 49: fileUses, 50: fileUses, 54: fileUses, 55: fileUses, 73: fileUses, 74: fileUses, 75: fileUses, 77: fileUses, 78: fileUses,
	81: fileUses, 217: fileUses, 232: fileUses, 233: fileUses, 281: fileUses, 285: fileUses, sysMmap: fileUses5,
}

const (
	errBadFile    = 9    // EBADF
	dupFD         = 0    // F_DUPFD
	dupFDCloexec  = 1030 // F_DUPFD_CLOEXEC
	mapAnonymous  = 0x20
	maxPendingFDs = 8
	sweep         = 3 // closed descriptors that a place tries before it counts as closing whatever there is
)

// file notes a system call that returned, if it is about descriptors.
func (f *follower) file(p *traces.Packet) {
	use := fileCalls[f.call.nr]
	if use == 0 {
		return
	}
	a := &f.call.args
	n := note{kind: noteFile, write: int64(p.Ret) < 0, addr: f.call.nr, size: p.Ret, old: a[0], before: a[1], past: a[2], ctx: f.calls.Node(), pc: f.call.pc, count: f.call.count}
	switch use {
	case fileUses5:
		if a[3]&mapAnonymous != 0 || int64(p.Ret) != -errBadFile {
			return
		}
		n.old = a[4]
	case fileUses:
		if int64(p.Ret) != -errBadFile {
			return
		}
	case filePair, filePairs:
		if int64(p.Ret) < 0 {
			return
		}
		// What the kernel wrote is known when the thread has read it.
		if n.old = a[0]; use == filePairs {
			n.old = a[3]
		}
		if len(f.pairs) < maxPendingFDs {
			f.pairs = append(f.pairs, n)
		}
		return
	}
	f.note(n)
}

// pending notes descriptors whose numbers are known by now.
func (f *follower) pending() {
	keep := f.pairs[:0]
	for _, n := range f.pairs {
		x, ok := readUint(f.t.Memory().Read, n.old, 4)
		y, ok2 := readUint(f.t.Memory().Read, n.old+4, 4)
		if !ok || !ok2 {
			keep = append(keep, n)
			continue
		}
		n.before, n.past = x, y
		f.note(n)
	}
	f.pairs = keep
}

func (x *Files) note(id emulate.ThreadID, n *note) {
	if x.Open == nil {
		x.Open, x.closed = map[int32]*OpenFile{}, map[int32]FileCall{}
		x.never, x.tried, x.last = map[filePlace]bool{}, map[filePlace]map[int32]bool{}, map[filePlace]*OpenFile{}
	}
	c := FileCall{Thread: id, Ctx: n.ctx, PC: n.pc, Count: n.count, Nr: n.addr}
	ret, fd := int64(n.size), int32(n.old)
	open := func(fd int64, pair bool) {
		if fd >= 0 && fd < 1<<20 {
			delete(x.closed, int32(fd))
			o := &OpenFile{FD: int32(fd), FileCall: c, Pair: pair}
			if p := x.last[c.place()]; p != nil && p.Thread == id && p.Next == 0 {
				p.Next = c.Count
			}
			x.Open[o.FD], x.last[c.place()] = o, o
		}
	}
	shut := func(fd int32) {
		if x.Open[fd] != nil {
			delete(x.Open, fd)
			x.closed[fd] = c
		}
	}
	switch fileCalls[n.addr] {
	case fileOpens:
		open(ret, false)
	case fileDup:
		if n.before == dupFD || n.before == dupFDCloexec {
			open(ret, false)
		} else {
			return // what only asks is allowed to
		}
	case fileOver:
		if ret >= 0 && ret != int64(fd) {
			open(ret, false)
		}
	case filePair, filePairs:
		open(int64(int32(n.before)), true)
		open(int64(int32(n.past)), true)
		return
	case fileRange:
		if ret == 0 && n.past&4 == 0 { // CLOSE_RANGE_CLOEXEC
			for fd := range x.Open {
				if uint64(fd) >= n.old && uint64(fd) <= n.before {
					shut(fd)
				}
			}
		}
		return
	case fileExec:
		if ret >= 0 {
			*x = Files{}
		}
		return
	case fileClose:
		if ret >= 0 {
			shut(fd)
		}
	}
	if ret == -errBadFile {
		x.misused(fd, c)
	}
}

// misused looks at a system call that the kernel refused for its descriptor.
func (x *Files) misused(fd int32, c FileCall) {
	old, was := x.closed[fd]
	if !was {
		if x.Open[fd] == nil { // else it is open, but not for this
			x.never[c.place()] = true
		}
		return
	}
	if x.tried[c.place()] == nil {
		x.tried[c.place()] = map[int32]bool{}
	}
	if t := x.tried[c.place()]; len(t) <= sweep && !t[fd] {
		t[fd] = true
		x.Misused = append(x.Misused, FileMisuse{fd, c, old})
	}
}

// Sweeps says whether a place closes whatever there is, so that what it does to
// closed descriptors tells nothing.
func (x *Files) Sweeps(m *FileMisuse) bool {
	return m.Nr == sysClose && (x.never[m.place()] || len(x.tried[m.place()]) > sweep)
}

const sysClose = 3
