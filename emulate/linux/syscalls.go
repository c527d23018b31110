package linux

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate"
)

// A sysRow documents and implements one system call. The rows stand in the
// sys_*.go files, by family.
type sysRow struct {
	nr   int
	name string
	// args names the arguments in order. ">" stands before a pointer to memory
	// that the kernel writes, "<" before one that it reads, "~" for both.
	args string
	// fn is the implementation; nil: the call isn't supported and answers ENOSYS.
	fn handler
	// refuse, instead of fn, is what the call answers, whatever its arguments:
	// as a kernel does that is configured without it.
	refuse unix.Errno
	// note says how the answer differs from Linux's, or why there is none.
	note string
	// rel gives the objects that the call releases when it is made.
	rel func(c *call) []Object
	// pokes: the call may make other descriptors ready.
	pokes bool
}

// A handler answers a call: with a value, a negated errno, blocked or noReturn.
type handler func(c *call) int64

// call is one system call under way.
type call struct {
	t    *Thread
	p    *Process
	row  *sysRow
	nr   uint64
	args [6]uint64
	eff  Effects
	err  error // ends the guest

	deadline int64 // absolute, kept while the call is tried again; 0: not set
	done     int   // bytes that a call tried again has moved
	// connecting: the call is a connect that has been made already.
	connecting bool
}

// sysTable is indexed by number.
var sysTable [464]sysRow

// addCalls puts rows into the table.
func addCalls(rows []sysRow) {
	for _, r := range rows {
		if sysTable[r.nr].name != "" {
			panic(fmt.Sprintf("BUG: system call %d is both %s and %s", r.nr, sysTable[r.nr].name, r.name))
		}
		if e := r.refuse; e != 0 {
			r.fn = func(*call) int64 { return fail(e) }
		}
		sysTable[r.nr] = r
	}
}

// A Support says how far a system call is supported.
type Support uint8

const (
	_ Support = iota
	Supported
	Partly       // with what the note says missing
	Refused      // always answers the same error, as some real kernels do
	NotSupported // answers ENOSYS and is counted as missed
)

func (s Support) String() string {
	switch s {
	case Supported:
		return "supported"
	case Partly:
		return "partly"
	case Refused:
		return "refused"
	case NotSupported:
		return "unsupported"
	}
	return "invalid"
}

// A Syscall describes a row of the table of system calls.
type Syscall struct {
	Nr      int
	Name    string
	Args    string // in order: > the kernel writes there, < reads, ~ both
	Support Support
	Answer  string // of a refused call: "EPERM"
	Note    string // what is missing, or why
}

// Syscalls lists the table of system calls by number.
func Syscalls() []Syscall {
	var l []Syscall
	for _, r := range sysTable {
		if r.name == "" {
			continue
		}
		s := Syscall{Nr: r.nr, Name: r.name, Args: r.args, Note: r.note, Support: Supported}
		switch {
		case r.refuse != 0:
			s.Support, s.Answer = Refused, unix.ErrnoName(r.refuse)
		case r.fn == nil:
			s.Support, s.Answer = NotSupported, "ENOSYS"
		case r.note != "":
			s.Support = Partly
		}
		l = append(l, s)
	}
	return l
}

// SyscallName returns the name of system call nr, "" if there is none.
func SyscallName(nr uint64) string {
	if nr < uint64(len(sysTable)) {
		return sysTable[nr].name
	}
	return ""
}

// SyscallArgs returns the number of system call nr's arguments, -1 if there is
// no such call.
func SyscallArgs(nr uint64) int {
	if SyscallName(nr) == "" {
		return -1
	}
	if a := sysTable[nr].args; a != "" {
		return strings.Count(a, ",") + 1
	}
	return 0
}

// syscall makes the call that t stands at.
func (p *Process) syscall(t *Thread) error {
	r := &t.CPU.R
	c := &t.call
	*c = call{t: t, p: p, nr: r[0], args: [6]uint64{r[7], r[6], r[2], r[10], r[8], r[9]},
		eff: Effects{Acquire: c.eff.Acquire[:0], Reads: c.eff.Reads[:0], Writes: c.eff.Writes[:0]}}
	if c.nr < uint64(len(sysTable)) {
		c.row = &sysTable[c.nr]
	}
	if c.row == nil || c.row.fn == nil {
		c.row = &sysRow{nr: int(c.nr), name: SyscallName(c.nr), fn: sysUnknown}
	}
	var rel []Object
	if c.row.rel != nil {
		rel = c.row.rel(c)
	}
	p.hooks.SyscallEnter(t, c.nr, c.args, rel)
	p.clock.pass(nsPerSyscall)
	res := c.row.fn(c)
	if c.err != nil {
		return c.err
	}
	if res == blocked {
		res = t.pendingBreak()
	}
	if res != blocked && res != noReturn {
		p.finishCall(t, res)
	}
	return nil
}

// finishCall gives t the result of its call and handles pending signals.
func (p *Process) finishCall(t *Thread, res int64) {
	c := t.CPU
	c.R[11] = c.Flags()
	c.RIP += 2
	c.R[1] = c.RIP
	c.R[0] = uint64(res)
	c.Count++
	t.interrupted = res == erestartSys || res == erestartNoHand
	t.sigwait = 0
	p.hooks.SyscallExit(t, t.call.nr, uint64(res), t.call.eff)
	if t.call.row.pokes {
		p.fam.pokeFds()
	}
	p.deliver(t)
	t.interrupted = false
}

// unsupported describes the call as one that can't be made.
func (c *call) unsupported(why string) *Unsupported {
	u := &Unsupported{
		What:   fmt.Sprintf("system call %d", c.nr),
		Why:    why,
		Thread: c.t.ID, Count: emulate.Count(c.t.CPU.Count), RIP: emulate.Addr(c.t.CPU.RIP),
	}
	if c.row != nil && c.row.name != "" {
		u.What += " (" + c.row.name + ")"
		if why == "" {
			u.Why = c.row.note
		}
	}
	return u
}

// refuse answers e because of an argument that isn't supported, or, if the
// configuration is strict, ends the guest.
func (c *call) refuse(e unix.Errno, format string, args ...any) int64 {
	why := fmt.Sprintf(format, args...)
	if c.p.cfg.Strict {
		c.err = c.unsupported(why)
		return fail(e)
	}
	what := c.unsupported(why).What
	if why != "" {
		what += ": " + why
	}
	c.p.fam.miss(what, e)
	return fail(e)
}

// sysUnknown answers the calls that the table doesn't have or support.
func sysUnknown(c *call) int64 {
	why := ""
	if c.nr < uint64(len(sysTable)) {
		why = sysTable[c.nr].note
	}
	return c.refuse(unix.ENOSYS, "%s", why)
}

// A Missed is a wish of the guest's that was refused because it isn't supported.
type Missed struct {
	What   string // "system call 425 (io_uring_setup)", "instruction 62 f1 … at 0x401000"
	Answer string // "ENOSYS"; of instructions "SIGILL"
	N      int    // how often
}

// miss counts a wish that was refused.
func (f *family) miss(what string, e unix.Errno) { f.refused(what, unix.ErrnoName(e)) }

func (f *family) refused(what, answer string) {
	for i := range f.missed {
		if f.missed[i].What == what {
			f.missed[i].N++
			return
		}
	}
	if len(f.missed) < maxMissed {
		f.missed = append(f.missed, Missed{what, answer, 1})
	}
}

// maxMissed bounds the list of what was refused.
const maxMissed = 100

// Missed returns what the guest was refused because it isn't supported, in the
// order in which it first asked.
func (p *Process) Missed() []Missed { return p.fam.missed }

// fail is the result of a call that failed with e.
func fail(e unix.Errno) int64 { return -int64(e) }

// result is the result of a host call: v, or the error.
func result[T int | int64 | uintptr](v T, err error) int64 {
	if err != nil {
		if e, ok := err.(unix.Errno); ok {
			return fail(e)
		}
		return fail(unix.EIO)
	}
	return int64(v)
}

// status is result for host calls without a value.
func status(err error) int64 { return result(0, err) }

// raw makes a host call with pointers already converted.
func raw(nr, a, b, c, d, e, f uintptr) int64 {
	r, _, errno := unix.Syscall6(nr, a, b, c, d, e, f)
	if errno != 0 {
		return fail(errno)
	}
	return int64(r)
}

// int returns argument i as the 32-bit int that most calls declare.
func (c *call) int(i int) int { return int(int32(c.args[i])) }

// read copies guest memory at addr to b.
func (c *call) read(addr uint64, b []byte) unix.Errno {
	if e := c.p.AS.read(addr, b); e != 0 {
		return e
	}
	if len(b) > 0 {
		c.eff.Reads = append(c.eff.Reads, Range{emulate.Addr(addr), uint64(len(b))})
	}
	return 0
}

// write copies b to guest memory at addr.
func (c *call) write(addr uint64, b []byte) unix.Errno {
	if len(b) == 0 {
		return 0
	}
	if e := c.p.AS.write(c.t, addr, b); e != 0 {
		return e
	}
	c.eff.Writes = append(c.eff.Writes, Range{emulate.Addr(addr), uint64(len(b))})
	return 0
}

// answer writes b to addr and returns ok, or -EFAULT.
func (c *call) answer(addr uint64, b []byte, ok int64) int64 {
	if e := c.write(addr, b); e != 0 {
		return fail(e)
	}
	return ok
}

// string reads the path or other string that argument i points to.
func (c *call) string(i int) (string, unix.Errno) {
	s, e := c.p.AS.cstring(c.args[i], unix.PathMax)
	if e == 0 {
		c.eff.Reads = append(c.eff.Reads, Range{emulate.Addr(c.args[i]), uint64(len(s)) + 1})
	}
	return s, e
}

// getTimespec reads a struct timespec as ns.
func (c *call) getTimespec(addr uint64) (int64, unix.Errno) {
	var b [16]byte
	if e := c.read(addr, b[:]); e != 0 {
		return 0, e
	}
	sec, nsec := int64(le64(b[0:])), int64(le64(b[8:]))
	if sec < 0 || nsec < 0 || nsec >= 1e9 {
		return 0, unix.EINVAL
	}
	if sec > maxSeconds {
		return never, 0
	}
	return sec*1e9 + nsec, 0
}

// maxSeconds is how many seconds a number of ns can hold.
const maxSeconds = (1<<63 - 1) / 1000000000

// putTimespec writes ns as a struct timespec.
func (c *call) putTimespec(addr uint64, ns int64) unix.Errno {
	var b [16]byte
	putTimespec(b[:], ns)
	return c.write(addr, b[:])
}

func putTimespec(b []byte, ns int64) {
	put64(b, uint64(ns/1e9))
	put64(b[8:], uint64(ns%1e9))
}

// putTimeval writes ns as a struct timeval.
func putTimeval(b []byte, ns int64) {
	put64(b, uint64(ns/1e9))
	put64(b[8:], uint64(ns%1e9/1000))
}

// getTimeval reads a struct timeval at b as ns, -1 if it is invalid.
func getTimeval(b []byte) int64 {
	sec, usec := int64(le64(b)), int64(le64(b[8:]))
	if sec < 0 || usec < 0 || usec >= 1e6 {
		return -1
	}
	if sec > maxSeconds {
		return never
	}
	return sec*1e9 + usec*1000
}

// acquire notes that the call acquired o.
func (c *call) acquire(o Object) { c.eff.Acquire = append(c.eff.Acquire, o) }
