package overlay

// System call numbers that experiments know by heart (Linux, x86-64).
const (
	sysWrite        = 1
	sysOpen         = 2
	sysPoll         = 7
	sysMmap         = 9
	sysMprotect     = 10
	sysMunmap       = 11
	sysBrk          = 12
	sysSigprocmask  = 14
	sysPwrite64     = 18
	sysSelect       = 23
	sysSchedYield   = 24
	sysMremap       = 25
	sysMadvise      = 28
	sysPause        = 34
	sysNanosleep    = 35
	sysGetpid       = 39
	sysExit         = 60
	sysUname        = 63
	sysGettimeofday = 96
	sysGetrlimit    = 97
	sysGetrusage    = 98
	sysTimes        = 100
	sysGetuid       = 102
	sysGetgid       = 104
	sysGeteuid      = 107
	sysGetegid      = 108
	sysGetppid      = 110
	sysGettid       = 186
	sysTime         = 201
	sysFutex        = 202
	sysGetaffinity  = 204
	sysClockGettime = 228
	sysClockGetres  = 229
	sysClockNanoslp = 230
	sysExitGroup    = 231
	sysSigreturn    = 15
	sysEpollWait    = 232
	sysOpenat       = 257
	sysPselect6     = 270
	sysPpoll        = 271
	sysEpollPwait   = 281
	sysGetcpu       = 309
	sysGetrandom    = 318
	sysMembarrier   = 324
	sysEpollPwait2  = 441
)

// unseen are the system calls that nobody outside the process notices: they
// manage its own memory, ask for something, or wait. They are no outputs.
var unseen = map[uint64]bool{
	sysMmap: true, sysMprotect: true, sysMunmap: true, sysBrk: true, sysMremap: true, sysMadvise: true, sysMembarrier: true, sysSigprocmask: true,
	sysPoll: true, sysPpoll: true, sysSelect: true, sysPselect6: true, sysEpollWait: true, sysEpollPwait: true, sysEpollPwait2: true,
	sysSchedYield: true, sysPause: true, sysNanosleep: true, sysClockNanoslp: true, sysFutex: true,
	sysGettimeofday: true, sysTime: true, sysClockGettime: true, sysClockGetres: true, sysTimes: true, sysGetrusage: true,
	sysGetpid: true, sysGettid: true, sysGetppid: true, sysGetuid: true, sysGetgid: true, sysGeteuid: true, sysGetegid: true,
	sysUname: true, sysGetrlimit: true, sysGetaffinity: true, sysGetcpu: true, sysGetrandom: true,
}

// Unseen reports whether nobody outside the process notices a system call.
func Unseen(nr uint64) bool { return unseen[nr] }

// Inward reports whether a system call only takes something in, or changes only
// what belongs to the process: its descriptors, threads and signal handlers. It
// is an output of a section, but the world outside of the program doesn't see it.
func (c *Call) Inward() bool {
	const creates = 0o100 | 0o1000 // O_CREAT, O_TRUNC
	switch c.NR {
	case sysOpen:
		return c.Args[1]&creates == 0
	case sysOpenat:
		return c.Args[2]&creates == 0
	}
	return inward[c.NR] || unseen[c.NR]
}

// inward are such calls by number: read, close, stat, fstat, lstat, lseek,
// rt_sigaction, pread64, readv, access, pipe, dup, dup2, socket, recvfrom,
// recvmsg, getsockname, getpeername, socketpair, getsockopt, clone, getcwd,
// readlink, sigaltstack, epoll_create, getdents64, set_tid_address, epoll_ctl,
// openat's relatives newfstatat, readlinkat and faccessat, set_robust_list,
// eventfd, timerfd_create, eventfd2, epoll_create1, dup3, pipe2, preadv,
// recvmmsg, preadv2, statx, rseq, clone3, close_range, faccessat2.
var inward = map[uint64]bool{0: true, 3: true, 4: true, 5: true, 6: true, 8: true, 13: true, 17: true, 19: true, 21: true, 22: true, 32: true, 33: true,
	41: true, 45: true, 47: true, 51: true, 52: true, 53: true, 55: true, 56: true, 79: true, 89: true, 131: true, 213: true, 217: true, 218: true, 233: true,
	262: true, 267: true, 269: true, 273: true, 284: true, 283: true, 290: true, 291: true, 292: true, 293: true, 295: true, 299: true, 327: true, 332: true,
	334: true, 435: true, 436: true, 439: true}

// Ends reports whether a system call ends the thread or the process.
func (c *Call) Ends() bool { return c.NR == sysExit || c.NR == sysExitGroup }

// pure does what the kernel does for a system call whose effects the process
// alone determines, and reports whether nr is one. A wait that may end by its
// time does.
func (p *participant) pure(nr uint64, args [6]uint64) bool {
	switch nr {
	case sysSchedYield, sysNanosleep, sysClockNanoslp:
	case sysPoll:
		if int32(args[2]) < 0 {
			return false
		}
		p.noEvents(args[0], args[1])
	case sysPpoll:
		if args[2] == 0 {
			return false
		}
		p.noEvents(args[0], args[1])
	case sysSelect, sysPselect6:
		if args[4] == 0 {
			return false
		}
		n := (min(args[0], maxFDs) + 63) / 64 * 8
		for _, set := range args[1:4] {
			if set != 0 {
				p.fill(set, n, 0)
			}
		}
		p.fill(args[4], 16, 0) // the time left
	case sysEpollWait, sysEpollPwait:
		if int32(args[3]) < 0 {
			return false
		}
	case sysEpollPwait2:
		if args[3] == 0 {
			return false
		}
	case sysSigprocmask:
		// No signal comes in an experiment. The old mask isn't known.
		if args[2] != 0 {
			return false
		}
		p.finishCall(0)
		return true
	case sysGetpid, sysGettid, sysGetppid, sysGetuid, sysGetgid, sysGeteuid, sysGetegid:
		for i := range p.sec.Inputs {
			if in := &p.sec.Inputs[i]; in.Kind == InSyscall && in.NR == nr {
				p.finishCall(in.Ret)
				return true
			}
		}
		return false
	case sysGettimeofday, sysTime, sysClockGettime, sysClockGetres, sysGetcpu:
		return p.sameAgain(nr, args)
	case sysMembarrier, sysMadvise, sysMprotect, sysMunmap:
		p.finishCall(0)
		return true
	default:
		return false
	}
	p.finishCall(0)
	p.waited() // a waiter lets the others run
	return true
}

// sameAgain answers a call as it was answered in the recording last: no time has
// passed since, and the thread is where it was. It reports whether there was one.
func (p *participant) sameAgain(nr uint64, args [6]uint64) bool {
	at := -1
	for i := range p.sec.Inputs {
		in := &p.sec.Inputs[i]
		if in.Kind != InSyscall || in.NR != nr || nr != sysTime && nr != sysGetcpu && in.Args[0] != args[0] && nr != sysGettimeofday {
			continue
		}
		if at >= 0 && i >= p.next {
			break
		}
		at = i
	}
	if at < 0 {
		return false
	}
	in := &p.sec.Inputs[at]
	for k, old := range in.Args {
		for _, w := range in.Writes {
			if old == 0 || w.Addr != old || args[k] == 0 {
				continue
			}
			for i := range w.N {
				b, ok := p.writtenBy(at, w.Addr+i)
				if !ok {
					return false
				}
				p.fill(args[k]+i, 1, b)
			}
		}
	}
	p.finishCall(in.Ret)
	return true
}

// writtenBy returns a byte that the recorded system call of input number at
// wrote: it flowed in when it was read first.
func (p *participant) writtenBy(at int, addr uint64) (byte, bool) {
	for i := at + 1; i < len(p.sec.Inputs); i++ {
		if in := &p.sec.Inputs[i]; in.Kind == InImport && in.Line == addr>>6 && in.Given>>(addr&63)&1 != 0 {
			return in.Data[addr&63], true
		}
	}
	return 0, false
}

// maxFDs bounds the descriptors of one select or poll.
const maxFDs = 1 << 16

// noEvents clears the results of n struct pollfd: the last 2 of 8 bytes each.
func (p *participant) noEvents(at, n uint64) {
	for i := uint64(0); i < min(n, maxFDs); i++ {
		p.fill(at+8*i+6, 2, 0)
	}
}

// fill stores n equal bytes, as the kernel does.
func (p *participant) fill(at, n uint64, b byte) {
	for ; n > 0; at, n = at+1, n-1 {
		if !p.ownStack(at) {
			p.change(at, 1, uint64(b))
		}
		line := p.canon(at >> 6)
		l := p.run.mem.own(line)
		l.data[at&63] = b
		l.mask |= 1 << (at & 63)
		p.run.wrote(p, line, 1<<(at&63))
	}
}
