package racesim

import (
	"fmt"
	"sort"

	"github.com/racesim/racesim/checkers"
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races/detect"
)

// Bounds of finding out who knows a descriptor's number.
const (
	maxHeld     = 40         // descriptors looked at
	perHeld     = 4_000_000  // instructions followed, for one
	allHeld     = 40_000_000 // and for all
	heldPerStep = 2_000
)

// descriptors collects what is wrong with the use of descriptors.
func (a *analysis) descriptors(f *checkers.Facts) {
	d := &a.pass.Conduct.Files
	for i := range d.Misused {
		m := &d.Misused[i]
		if d.Sweeps(m) || a.tree.Place(m.Ctx, emulate.Addr(m.PC)).User == 0 {
			continue
		}
		f.Closed = append(f.Closed, checkers.FileMisuse{FD: int(m.FD), Call: fileCallName(m.Nr), Thread: uint32(m.Thread), Position: a.positionOf(m.Thread, m.Count),
			Stack: a.ownFrames(m.Ctx, m.PC), ClosedBy: uint32(m.Closed.Thread), ClosedAt: a.ownFrames(m.Closed.Ctx, m.Closed.PC)})
	}
	if !f.Complete {
		return
	}
	var open []*detect.OpenFile
	for _, o := range d.Open {
		if o.FD > 2 && !o.Pair && a.opens(o) {
			open = append(open, o)
		}
	}
	sort.Slice(open, func(i, j int) bool { return open[i].FD < open[j].FD })
	left := uint64(allHeld)
	for i, o := range open {
		if i == maxHeld || left == 0 {
			a.note("who knows the number of a descriptor was found out of the first %d only, of %d that were open at the end", i, len(open))
			break
		}
		if a.forgotten(o, &left) {
			f.Forgotten = append(f.Forgotten, checkers.OpenFile{FD: int(o.FD), Call: fileCallName(o.Nr), Thread: uint32(o.Thread), Position: a.positionOf(o.Thread, o.Count), Opened: a.ownFrames(o.Ctx, o.PC)})
		}
	}
}

// opens says whether the program asked for a descriptor, and gets its number:
// streams and what the C library opens for itself don't count.
func (a *analysis) opens(o *detect.OpenFile) bool {
	pl := a.tree.Place(o.Ctx, emulate.Addr(o.PC))
	if pl.Category == 0 {
		return true
	}
	return pl.User != 0 && pl.Runtime != nil && checkers.ReturnsDescriptor(pl.Runtime.Name)
}

// fileCallNames are the system calls that reports speak of (Linux, x86-64).
var fileCallNames = map[uint64]string{0: "read", 1: "write", 2: "open", 3: "close", 8: "lseek", 9: "mmap", 16: "ioctl", 17: "pread64", 18: "pwrite64", 19: "readv", 20: "writev",
	32: "dup", 33: "dup2", 40: "sendfile", 41: "socket", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom", 46: "sendmsg", 47: "recvmsg", 72: "fcntl", 77: "ftruncate", 85: "creat",
	217: "getdents64", 232: "epoll_wait", 233: "epoll_ctl", 257: "openat", 283: "timerfd_create", 288: "accept4", 290: "eventfd2", 291: "epoll_create1", 292: "dup3", 319: "memfd_create"}

func fileCallName(nr uint64) string {
	if n := fileCallNames[nr]; n != "" {
		return n
	}
	return fmt.Sprintf("system call %d", nr)
}

// A keeper follows who knows a descriptor's number: the function that was given
// it, and whoever it returns it to, for as long as the number is nowhere else.
type keeper struct {
	*funcs.Tracker
	fd    int32
	depth int          // of the frame that knows it
	sp    emulate.Addr // RSP at its entry
	first func(calls *funcs.Tracker, depth int) bool
	main  bool          // …is that of the program's first function
	moved emulate.Count // when it was returned to that frame; 0: it wasn't, or that was looked at
	end   keeperEnd
}

type keeperEnd uint8

const (
	stillKept keeperEnd = iota
	passedOn            // the number is in memory that outlives the frame
	dropped             // the frame is gone, and nobody has it
)

// forgotten says whether nobody can close a descriptor any more.
func (a *analysis) forgotten(o *detect.OpenFile, left *uint64) bool {
	tt := a.pass.Threads[o.Thread]
	t, calls, err := a.pass.Seek(o.Thread, o.Count)
	if err != nil || tt == nil || tt.End == nil {
		return false
	}
	k := &keeper{Tracker: calls, fd: o.FD, first: a.firstFrame}
	pl := a.tree.Place(o.Ctx, emulate.Addr(o.PC))
	for level := 0; ; level++ {
		if level == calls.Depth() {
			return false
		}
		if act := calls.Level(level); act.Node == pl.User {
			k.depth, k.sp = calls.Depth()-level, act.SP
			break
		}
	}
	t.CPU().Calls = k
	t.Observe(nil, true, k)
	k.main = a.firstFrame(calls, k.depth)
	again := o.Next // when what it is kept in may be overwritten
	if again != 0 {
		again += overwritten
	}
	used := uint64(0)
	for k.end == stillKept && used < perHeld && *left > 0 && t.Count() < tt.Last {
		n := min(heldPerStep, *left, uint64(tt.Last-t.Count()))
		if again > t.Count() {
			n = min(n, uint64(again-t.Count()))
		}
		if err := detect.RunTo(t, calls, t.Count()+emulate.Count(n)); err != nil {
			return false
		}
		used += n
		*left -= n
		if k.end != stillKept || t.Count() < again {
			continue
		}
		if k.moved != 0 && t.Count() >= k.moved+overwritten || t.Count() == again {
			k.moved = 0
			if !k.holds(t) {
				return true
			}
		}
	}
	return k.end == dropped
}

// overwritten is the number of instructions after a call within which its result
// takes the place of what the last one gave, or is kept if it is wanted.
const overwritten = 400

// firstFrame says whether a frame is that of the program's first function: what
// it keeps is kept until the end.
func (a *analysis) firstFrame(calls *funcs.Tracker, depth int) bool {
	if depth > calls.Depth() {
		return false
	}
	n := calls.Level(calls.Depth() - depth).Node
	up := a.tree.Node(n).Parent
	return up == 0 || a.tree.Class(up) != 0 && a.tree.Place(up, a.tree.Node(up).Entry).User == 0 && calls.Thread() == a.t.s.Threads()[0]
}

// holds says whether the number is in a register or in the frames up to the one
// that knows it.
func (k *keeper) holds(t *replay.Thread) bool {
	st := t.CPU()
	for _, v := range st.R[:16] {
		if int32(v) == k.fd {
			return true
		}
	}
	for at := st.R[x86.RSP] &^ 3; at < uint64(k.sp); at += 4 {
		if v, ok := overlay.ReadUint(t.Memory(), at, 4); ok && int32(v) == k.fd {
			return true
		}
	}
	return false
}

// Ret serves x86.CallSink.
func (k *keeper) Ret(c *x86.CPU, site, target, sp uint64) {
	k.Tracker.Ret(c, site, target, sp)
	if k.end != stillKept || k.Depth() >= k.depth {
		return
	}
	switch {
	case k.main:
		k.end = passedOn // to the end of the program
	case int32(c.R[x86.RAX]) != k.fd || k.depth == 1:
		k.end = dropped
	default:
		k.depth, k.sp, k.moved = k.Depth(), k.Level(0).SP, emulate.Count(c.InstrCount())
		k.main = k.first(k.Tracker, k.depth)
	}
}

// Load serves x86.Watcher.
func (k *keeper) Load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) uint64 {
	return v
}

// Store serves x86.Watcher.
func (k *keeper) Store(c *x86.CPU, addr uint64, size int, v uint64) {
	if k.end != stillKept || addr < uint64(k.sp) && uint64(k.sp)-addr < 8<<20 {
		return
	}
	fd, all := uint64(uint32(k.fd)), ^uint64(0)>>(64-8*size)
	if v&all == fd&all || size == 8 && (uint32(v) == uint32(fd) || v>>32 == fd) {
		k.end = passedOn
	}
}
