package linux

import (
	"bytes"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 2, name: "open", args: "<path, flags, mode", fn: sysOpen},
		{nr: 257, name: "openat", args: "dir, <path, flags, mode", fn: sysOpenat},
		{nr: 85, name: "creat", args: "<path, mode", fn: sysCreat},
		{nr: 437, name: "openat2", args: "dir, <path, <how, n", refuse: unix.ENOSYS, note: "as kernels before 5.6"},
		{nr: 3, name: "close", args: "fd", fn: sysClose, rel: releaseClosed, pokes: true},
		{nr: 436, name: "close_range", args: "first, last, flags", fn: sysCloseRange, pokes: true},
		{nr: 32, name: "dup", args: "fd", fn: sysDup},
		{nr: 33, name: "dup2", args: "old, new", fn: sysDup2, pokes: true},
		{nr: 292, name: "dup3", args: "old, new, flags", fn: sysDup3, pokes: true},
		{nr: 72, name: "fcntl", args: "fd, cmd, ~arg", fn: sysFcntl, rel: releaseLocks,
			note: "no leases, no SIGURG for owners, no F_NOTIFY"},
		{nr: 74, name: "fsync", args: "fd", fn: sysFsync},
		{nr: 75, name: "fdatasync", args: "fd", fn: sysFsync},
		{nr: 162, name: "sync", fn: answer0, note: "does nothing"},
		{nr: 306, name: "syncfs", args: "fd", fn: answerFD, note: "does nothing"},
		{nr: 277, name: "sync_file_range", args: "fd, offset, n, flags", fn: answerFD, note: "does nothing"},
		{nr: 77, name: "ftruncate", args: "fd, length", fn: sysFtruncate},
		{nr: 76, name: "truncate", args: "<path, length", fn: sysTruncate},
		{nr: 285, name: "fallocate", args: "fd, mode, offset, n", fn: sysFallocate},
		{nr: 221, name: "fadvise64", args: "fd, offset, n, advice", fn: sysFadvise},
		{nr: 187, name: "readahead", args: "fd, offset, n", fn: answerFD, note: "does nothing"},
		{nr: 217, name: "getdents64", args: "fd, >dirents, n", fn: sysGetdents64},
		{nr: 78, name: "getdents", args: "fd, >dirents, n", fn: sysGetdents},
		{nr: 16, name: "ioctl", args: "fd, request, ~arg", fn: sysIoctl,
			note: "terminals, network interfaces' names and addresses, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX, FIOASYNC; others answer ENOTTY"},
	})
}

func answer0(*call) int64 { return 0 }

// answerFD is answer0 for calls whose first argument must be a descriptor.
func answerFD(c *call) int64 {
	if c.fd(0) == nil {
		return fail(unix.EBADF)
	}
	return 0
}

func sysOpen(c *call) int64   { return c.open(-1, 0, c.int(1), uint32(c.args[2])) }
func sysOpenat(c *call) int64 { return c.open(0, 1, c.int(2), uint32(c.args[3])) }
func sysCreat(c *call) int64 {
	return c.open(-1, 0, unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC, uint32(c.args[1]))
}

// open opens the path at argument path, relative to argument dir.
func (c *call) open(dir, path, flags int, mode uint32) int64 {
	name, e := c.string(path)
	if e != 0 {
		return fail(e)
	}
	if text, ok := c.synthetic(name); ok {
		if flags&unix.O_ACCMODE != unix.O_RDONLY {
			return fail(unix.EACCES)
		}
		return c.openText(name, text, flags&unix.O_CLOEXEC != 0)
	}
	if r, ok := c.openProc(name, flags); ok {
		return r
	}
	a, e := c.at(dir, path)
	if e != 0 {
		return fail(e)
	}
	if flags&unix.O_TRUNC != 0 {
		c.truncates(a)
	}
	c.p.AS.listenFiles(false)
	defer c.p.AS.listenFiles(true)
	// A FIFO without its other end would block the host.
	fd, err := unix.Openat(a.dir, a.path, flags|unix.O_CLOEXEC|unix.O_NOCTTY|unix.O_NONBLOCK, mode)
	for err == unix.EINTR {
		fd, err = unix.Openat(a.dir, a.path, flags|unix.O_CLOEXEC|unix.O_NOCTTY|unix.O_NONBLOCK, mode)
	}
	if err == unix.EWOULDBLOCK && len(c.p.AS.outsiders.leases) > 0 {
		c.p.AS.yieldAll() // one of our own stood in the way
		fd, err = unix.Openat(a.dir, a.path, flags|unix.O_CLOEXEC|unix.O_NOCTTY|unix.O_NONBLOCK, mode)
	}
	if err != nil {
		if err == unix.ENXIO && flags&unix.O_ACCMODE == unix.O_WRONLY && flags&unix.O_NONBLOCK == 0 {
			return c.again(func() int64 { return c.open(dir, path, flags, mode) })
		}
		return status(err)
	}
	return c.adopt(fd, c.p.absolute(a), flags&unix.O_CLOEXEC != 0, func(f *file) {
		f.outside = !f.reg
		f.nonblock = flags&unix.O_NONBLOCK != 0
		if at, ok := c.p.proc(name); ok && at.rest == "" {
			f.ofPID = at.p.PID // also a pidfd, for pidfd_send_signal
		}
		f.random = f.path == "/dev/urandom" || f.path == "/dev/random"
	})
}

// truncates tells who maps the file at a that it is about to become empty.
func (c *call) truncates(a at) {
	if !c.p.AS.sharedFiles {
		return
	}
	fd, err := unix.Openat(a.dir, a.path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err == nil {
		c.p.AS.fileShrinks(fd, 0)
		unix.Close(fd)
	}
}

// absolute is the path of a for messages and module names.
func (p *Process) absolute(a at) string {
	if filepath.IsAbs(a.path) {
		return filepath.Clean(a.path)
	}
	var buf [unix.PathMax]byte
	n, err := unix.Readlinkat(unix.AT_FDCWD, procFD(a.dir), buf[:])
	if err != nil {
		return a.path
	}
	return filepath.Join(string(buf[:n]), a.path)
}

// openText opens a file that we make up.
func (c *call) openText(name, text string, cloexec bool) int64 {
	fd, err := unix.MemfdCreate("racesim", unix.MFD_CLOEXEC)
	if err != nil {
		return status(err)
	}
	unix.Pwrite(fd, []byte(text), 0)
	return c.adopt(fd, name, cloexec, func(f *file) { f.made = true })
}

func sysClose(c *call) int64 {
	return -int64(c.p.closeFD(c.int(0)))
}

func sysCloseRange(c *call) int64 {
	first, last := c.args[0], c.args[1]
	if first > last || c.args[2]&^uint64(unix.CLOSE_RANGE_UNSHARE|unix.CLOSE_RANGE_CLOEXEC) != 0 {
		return fail(unix.EINVAL)
	}
	for n := first; n <= last && n < uint64(len(c.p.fds.list)); n++ {
		if d := c.p.fds.get(int(n)); d != nil && c.args[2]&unix.CLOSE_RANGE_CLOEXEC != 0 {
			d.cloexec = true
		} else if d != nil {
			c.p.closeFD(int(n))
		}
	}
	return 0
}

// dup gives a copy of d the number to, or the lowest free one from min on if
// to is negative.
func (c *call) dup(d *descriptor, to, from int, cloexec bool) int64 {
	host, err := dupHost(d.host)
	if err != nil {
		return status(err)
	}
	d.file.share()
	if to < 0 {
		var e unix.Errno
		if to, e = c.p.fds.free(from); e != 0 {
			unix.Close(host)
			return fail(e)
		}
	} else {
		c.p.closeFD(to)
	}
	c.p.fds.set(to, descriptor{host: host, file: d.file, cloexec: cloexec})
	return int64(to)
}

func sysDup(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	return c.dup(d, -1, 0, false)
}

func sysDup2(c *call) int64 {
	d := c.fd(0)
	to := c.int(1)
	if d == nil || to < 0 || to >= c.p.fds.max {
		return fail(unix.EBADF)
	}
	if to == c.int(0) {
		return int64(to)
	}
	return c.dup(d, to, 0, false)
}

func sysDup3(c *call) int64 {
	d := c.fd(0)
	to := c.int(1)
	if to == c.int(0) || c.args[2]&^unix.O_CLOEXEC != 0 {
		return fail(unix.EINVAL)
	}
	if d == nil || to < 0 || to >= c.p.fds.max {
		return fail(unix.EBADF)
	}
	return c.dup(d, to, 0, c.args[2]&unix.O_CLOEXEC != 0)
}

func sysFcntl(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	arg := c.args[2]
	switch cmd := c.int(1); cmd {
	case unix.F_DUPFD, unix.F_DUPFD_CLOEXEC:
		if int64(arg) < 0 || arg >= uint64(c.p.fds.max) {
			return fail(unix.EINVAL)
		}
		return c.dup(d, -1, int(arg), cmd == unix.F_DUPFD_CLOEXEC)
	case unix.F_GETFD:
		if d.cloexec {
			return unix.FD_CLOEXEC
		}
		return 0
	case unix.F_SETFD:
		d.cloexec = arg&unix.FD_CLOEXEC != 0
		return 0
	case unix.F_GETFL:
		fl, err := unix.FcntlInt(uintptr(d.host), unix.F_GETFL, 0)
		if err != nil {
			return status(err)
		}
		fl &^= unix.O_NONBLOCK
		if d.file.nonblock {
			fl |= unix.O_NONBLOCK
		}
		if d.file.asyncKey != 0 {
			fl |= fasync
		}
		return int64(fl)
	case unix.F_SETFL:
		d.file.nonblock = arg&unix.O_NONBLOCK != 0
		if e := c.p.fam.setAsync(d, c.int(0), arg&fasync != 0); e != 0 {
			return fail(e)
		}
		fl, err := unix.FcntlInt(uintptr(d.host), unix.F_GETFL, 0)
		if err == nil {
			const ours = unix.O_APPEND | unix.O_DIRECT | unix.O_NOATIME
			_, err = unix.FcntlInt(uintptr(d.host), unix.F_SETFL, fl&^ours|int(arg)&ours)
		}
		return status(err)
	case unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW:
		return c.lock(d, cmd)
	case unix.F_GETPIPE_SZ, unix.F_SETPIPE_SZ, unix.F_GET_SEALS, unix.F_ADD_SEALS:
		return result(unix.FcntlInt(uintptr(d.host), cmd, int(arg)))
	case unix.F_GETOWN:
		return int64(d.file.owner)
	case unix.F_SETOWN:
		d.file.owner = int(int32(arg))
		return 0
	case unix.F_GETOWN_EX: // struct f_owner_ex: type (1 process, 2 group), number
		var b [8]byte
		put32(b[0:], 1)
		put32(b[4:], uint32(d.file.owner))
		if d.file.owner < 0 {
			put32(b[0:], 2)
			put32(b[4:], uint32(-d.file.owner))
		}
		return c.answer(arg, b[:], 0)
	case unix.F_SETOWN_EX:
		var b [8]byte
		if e := c.read(arg, b[:]); e != 0 {
			return fail(e)
		}
		d.file.owner = int(int32(le32(b[4:])))
		if le32(b[:]) == 2 {
			d.file.owner = -d.file.owner
		}
		return 0
	case unix.F_GETLEASE:
		return unix.F_UNLCK
	case unix.F_SETSIG:
		if int64(arg) < 0 || arg > maxSignal {
			return fail(unix.EINVAL)
		}
		d.file.sig = int(arg)
		return 0
	case unix.F_GETSIG:
		return int64(d.file.sig)
	case unix.F_SETLEASE, unix.F_NOTIFY:
		return c.refuse(unix.EINVAL, "command %d", cmd)
	}
	return fail(unix.EINVAL)
}

// again tries a call again after a while, where there is nothing to wait on.
func (c *call) again(try func() int64) int64 {
	return c.t.block(&wait{what: c.row.name, deadline: c.p.Now() + 1e6, outside: true, onTimeout: try})
}

func sysFsync(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	return status(unix.Fsync(d.host))
}

func sysFtruncate(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	if n := int64(c.args[1]); n >= 0 {
		if l, ok := c.p.limits[unix.RLIMIT_FSIZE]; ok && uint64(n) > l[0] {
			c.sizeLimited(n, 1)
			return fail(unix.EFBIG)
		}
		c.p.AS.fileShrinks(d.host, n)
	}
	return status(unix.Ftruncate(d.host, int64(c.args[1])))
}

func sysTruncate(c *call) int64 {
	a, e := c.at(-1, 0)
	if e != 0 {
		return fail(e)
	}
	c.p.AS.yieldAll()
	fd, err := unix.Openat(a.dir, a.path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return status(err)
	}
	defer unix.Close(fd)
	c.p.AS.fileShrinks(fd, int64(c.args[1]))
	return status(unix.Ftruncate(fd, int64(c.args[1])))
}

func sysFallocate(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	if n := c.args[2] + c.args[3]; c.args[1] == 0 {
		if l, ok := c.p.limits[unix.RLIMIT_FSIZE]; ok && n > l[0] {
			c.sizeLimited(int64(n), 1)
			return fail(unix.EFBIG)
		}
	}
	if c.args[1] != 0 {
		c.p.AS.fileChanges(c.t, d.host, int64(c.args[2]), int(min(c.args[3], 1<<40)))
	}
	return status(unix.Fallocate(d.host, uint32(c.args[1]), int64(c.args[2]), int64(c.args[3])))
}

func sysFadvise(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	return status(unix.Fadvise(d.host, int64(c.args[1]), int64(c.args[2]), c.int(3)))
}

func sysGetdents64(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	buf := make([]byte, min(c.args[2], 1<<20))
	if d.file.proc != nil {
		b, e := d.file.proc.entries(len(buf))
		if e != 0 {
			return fail(e)
		}
		return c.answer(c.args[1], b, int64(len(b)))
	}
	n, err := unix.Getdents(d.host, buf)
	if err != nil {
		return status(err)
	}
	return c.answer(c.args[1], buf[:n], int64(n))
}

// sysGetdents answers as getdents64, in the old form: inode, offset, length,
// name, zero bytes, and the type in the last byte.
func sysGetdents(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	const head = 18 // of the old form; names are at 19 in the new one
	was, err := unix.Seek(d.host, 0, unix.SEEK_CUR)
	if err != nil {
		return status(err)
	}
	buf := make([]byte, min(c.args[2]&0xffffffff, 1<<20))
	n, err := unix.Getdents(d.host, buf)
	if err != nil {
		return status(err)
	}
	var out []byte
	for b := buf[:n]; len(b) >= head+1; {
		size := int(le16(b[16:]))
		name, _, _ := bytes.Cut(b[head+1:size], []byte{0})
		e := make([]byte, (head+len(name)+2+7)&^7)
		if len(out)+len(e) > len(buf) {
			if _, err := unix.Seek(d.host, was, unix.SEEK_SET); err != nil { // the rest comes next time
				return status(err)
			}
			break
		}
		copy(e, b[:16])
		put16(e[16:], uint16(len(e)))
		copy(e[head:], name)
		e[len(e)-1] = b[head]
		out = append(out, e...)
		was = int64(le64(b[8:]))
		b = b[size:]
	}
	return c.answer(c.args[1], out, int64(len(out)))
}

const (
	fioasync = 0x5452
	fionread = 0x541b
	fionbio  = 0x5421
	fionclex = 0x5450
	fioclex  = 0x5451

	siocatmark = 0x8905
)

func sysIoctl(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	out := 0
	switch req := uint32(c.args[1]); req {
	case unix.TCGETS:
		out = 36
	case unix.TIOCGWINSZ:
		out = 8
	case fionread, unix.TIOCGPTN, unix.TIOCOUTQ, unix.BLKSSZGET, siocatmark:
		out = 4
	case unix.BLKGETSIZE64:
		out = 8
	case fionbio:
		var b [4]byte
		if e := c.read(c.args[2], b[:]); e != 0 {
			return fail(e)
		}
		d.file.nonblock = le32(b[:]) != 0
		return 0
	case fioasync:
		var b [4]byte
		if e := c.read(c.args[2], b[:]); e != 0 {
			return fail(e)
		}
		return -int64(c.p.fam.setAsync(d, c.int(0), le32(b[:]) != 0))
	case unix.TIOCSPGRP:
		var b [4]byte
		if e := c.read(c.args[2], b[:]); e != 0 {
			return fail(e)
		}
		c.p.fam.foreground = int(int32(le32(b[:])))
		return 0
	case unix.TIOCGPGRP, unix.TIOCGSID:
		var b [4]byte
		if r := ioctlBytes(d.host, req, b[:]); r < 0 {
			return r
		}
		// The terminal's groups are virtual.
		n := c.p.fam.foreground
		if n == 0 || req == unix.TIOCGSID {
			n = c.p.fam.root.sid
		}
		put32(b[:], uint32(n))
		return c.answer(c.args[2], b[:], 0)
	case unix.TIOCSCTTY, unix.TIOCNOTTY, unix.TCSBRK, unix.TCFLSH, unix.TCXONC:
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(d.host), uintptr(req), uintptr(c.args[2]))
		return -int64(e)
	case unix.TIOCSWINSZ, unix.TIOCSPTLCK:
		b := make([]byte, 8)
		if req == unix.TIOCSPTLCK {
			b = b[:4]
		}
		if e := c.read(c.args[2], b); e != 0 {
			return fail(e)
		}
		return ioctlBytes(d.host, req, b)
	case fioclex, fionclex:
		d.cloexec = req == fioclex
		return 0
	case unix.TCSETS, unix.TCSETSW, unix.TCSETSF:
		var b [36]byte
		if e := c.read(c.args[2], b[:]); e != 0 {
			return fail(e)
		}
		return ioctlBytes(d.host, req, b[:])
	case unix.SIOCGIFCONF:
		return c.interfaces(d)
	case unix.SIOCGIFNAME, unix.SIOCGIFFLAGS, unix.SIOCGIFADDR, unix.SIOCGIFDSTADDR, unix.SIOCGIFBRDADDR, unix.SIOCGIFNETMASK,
		unix.SIOCGIFMETRIC, unix.SIOCGIFMTU, unix.SIOCGIFHWADDR, unix.SIOCGIFINDEX, unix.SIOCGIFTXQLEN:
		var b [ifreqSize]byte
		if e := c.read(c.args[2], b[:]); e != 0 {
			return fail(e)
		}
		if r := ioctlBytes(d.host, req, b[:]); r < 0 {
			return r
		}
		return c.answer(c.args[2], b[:], 0)
	case unix.FICLONE, unix.FICLONERANGE:
		return fail(unix.EOPNOTSUPP)
	case unix.FS_IOC_GETFLAGS, unix.FS_IOC_SETFLAGS:
		return fail(unix.ENOTTY)
	default:
		if d.file.reg {
			return fail(unix.ENOTTY)
		}
		return c.refuse(unix.ENOTTY, "request %#x", req)
	}
	b := make([]byte, out)
	if r := ioctlBytes(d.host, uint32(c.args[1]), b); r < 0 {
		return r
	}
	return c.answer(c.args[2], b, 0)
}
