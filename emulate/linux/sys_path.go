package linux

import (
	"fmt"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 4, name: "stat", args: "<path, >stat", fn: sysStat},
		{nr: 6, name: "lstat", args: "<path, >stat", fn: sysLstat},
		{nr: 5, name: "fstat", args: "fd, >stat", fn: sysFstat},
		{nr: 262, name: "newfstatat", args: "dir, <path, >stat, flags", fn: sysNewfstatat},
		{nr: 332, name: "statx", args: "dir, <path, flags, mask, >statx", fn: sysStatx},
		{nr: 137, name: "statfs", args: "<path, >statfs", fn: sysStatfs},
		{nr: 138, name: "fstatfs", args: "fd, >statfs", fn: sysFstatfs},
		{nr: 21, name: "access", args: "<path, mode", fn: sysAccess},
		{nr: 269, name: "faccessat", args: "dir, <path, mode", fn: sysFaccessat},
		{nr: 439, name: "faccessat2", args: "dir, <path, mode, flags", fn: sysFaccessat2},
		{nr: 89, name: "readlink", args: "<path, >buf, n", fn: sysReadlink},
		{nr: 267, name: "readlinkat", args: "dir, <path, >buf, n", fn: sysReadlinkat},
		{nr: 79, name: "getcwd", args: ">buf, n", fn: sysGetcwd},
		{nr: 80, name: "chdir", args: "<path", fn: sysChdir},
		{nr: 81, name: "fchdir", args: "fd", fn: sysFchdir},
		{nr: 83, name: "mkdir", args: "<path, mode", fn: sysMkdir},
		{nr: 258, name: "mkdirat", args: "dir, <path, mode", fn: sysMkdirat},
		{nr: 84, name: "rmdir", args: "<path", fn: sysRmdir},
		{nr: 87, name: "unlink", args: "<path", fn: sysUnlink},
		{nr: 263, name: "unlinkat", args: "dir, <path, flags", fn: sysUnlinkat},
		{nr: 82, name: "rename", args: "<old, <new", fn: sysRename},
		{nr: 264, name: "renameat", args: "olddir, <old, newdir, <new", fn: sysRenameat},
		{nr: 316, name: "renameat2", args: "olddir, <old, newdir, <new, flags", fn: sysRenameat2},
		{nr: 86, name: "link", args: "<old, <new", fn: sysLink},
		{nr: 265, name: "linkat", args: "olddir, <old, newdir, <new, flags", fn: sysLinkat},
		{nr: 88, name: "symlink", args: "<target, <path", fn: sysSymlink},
		{nr: 266, name: "symlinkat", args: "<target, dir, <path", fn: sysSymlinkat},
		{nr: 133, name: "mknod", args: "<path, mode, dev", fn: sysMknod},
		{nr: 259, name: "mknodat", args: "dir, <path, mode, dev", fn: sysMknodat},
		{nr: 90, name: "chmod", args: "<path, mode", fn: sysChmod},
		{nr: 91, name: "fchmod", args: "fd, mode", fn: sysFchmod},
		{nr: 268, name: "fchmodat", args: "dir, <path, mode", fn: sysFchmodat},
		{nr: 92, name: "chown", args: "<path, uid, gid", fn: sysChown},
		{nr: 93, name: "fchown", args: "fd, uid, gid", fn: sysFchown},
		{nr: 94, name: "lchown", args: "<path, uid, gid", fn: sysLchown},
		{nr: 260, name: "fchownat", args: "dir, <path, uid, gid, flags", fn: sysFchownat},
		{nr: 280, name: "utimensat", args: "dir, <path, <times, flags", fn: sysUtimensat},
		{nr: 261, name: "futimesat", args: "dir, <path, <times", fn: sysFutimesat},
		{nr: 235, name: "utimes", args: "<path, <times", fn: sysUtimes},
		{nr: 132, name: "utime", args: "<path, <times", fn: sysUtime},
		{nr: 95, name: "umask", args: "mask", fn: sysUmask},
		{nr: 191, name: "getxattr", args: "<path, <name, >value, n", refuse: unix.EOPNOTSUPP},
		{nr: 192, name: "lgetxattr", args: "<path, <name, >value, n", refuse: unix.EOPNOTSUPP},
		{nr: 193, name: "fgetxattr", args: "fd, <name, >value, n", refuse: unix.EOPNOTSUPP},
		{nr: 194, name: "listxattr", args: "<path, >list, n", refuse: unix.EOPNOTSUPP},
		{nr: 195, name: "llistxattr", args: "<path, >list, n", refuse: unix.EOPNOTSUPP},
		{nr: 196, name: "flistxattr", args: "fd, >list, n", refuse: unix.EOPNOTSUPP},
		{nr: 188, name: "setxattr", args: "<path, <name, <value, n, flags", refuse: unix.EOPNOTSUPP},
		{nr: 189, name: "lsetxattr", args: "<path, <name, <value, n, flags", refuse: unix.EOPNOTSUPP},
		{nr: 190, name: "fsetxattr", args: "fd, <name, <value, n, flags", refuse: unix.EOPNOTSUPP},
	})
}

func sysStat(c *call) int64  { return c.stat(-1, 0, c.args[1], 0) }
func sysLstat(c *call) int64 { return c.stat(-1, 0, c.args[1], unix.AT_SYMLINK_NOFOLLOW) }
func sysNewfstatat(c *call) int64 {
	return c.stat(0, 1, c.args[2], c.int(3))
}

func (c *call) stat(dir, path int, to uint64, flags int) int64 {
	a, e := c.at(dir, path)
	if e != 0 {
		return fail(e)
	}
	if flags&unix.AT_EMPTY_PATH != 0 && a.path == "" && dir >= 0 && c.int(dir) == unix.AT_FDCWD {
		a.path = "."
	}
	var st unix.Stat_t
	if err := unix.Fstatat(a.dir, a.path, &st, flags); err != nil {
		return status(err)
	}
	if a.path == "" && dir >= 0 {
		c.steady(&st, c.fd(dir))
	} else {
		c.p.seen(st.Mode, st.Mtim.Nano())
	}
	return c.answer(to, structBytes(&st), 0)
}

func sysFstat(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	var st unix.Stat_t
	if err := unix.Fstat(d.host, &st); err != nil {
		return status(err)
	}
	c.steady(&st, d)
	return c.answer(c.args[1], structBytes(&st), 0)
}

// seen keeps the guest's virtual clock from being behind the files that it
// looks up: make(1) and others compare both.
func (p *Process) seen(mode uint32, modified int64) {
	if c := p.clock; mode&unix.S_IFMT == unix.S_IFREG && !c.host {
		c.real = max(c.real, modified-p.Now())
	}
}

// pipeDev is the device on which files without a place in a file system seem
// to be.
const pipeDev = 13

// steady gives what has no name the same inode and times in every run.
func (c *call) steady(st *unix.Stat_t, d *descriptor) {
	if d == nil || d.file.reg {
		return
	}
	t := timespec(c.p.clock.startTime())
	st.Dev, st.Ino = pipeDev, d.file.in
	st.Atim, st.Mtim, st.Ctim = t, t, t
}

func sysStatx(c *call) int64 {
	a, e := c.at(0, 1)
	if e != 0 {
		return fail(e)
	}
	flags := c.int(2)
	if flags&unix.AT_EMPTY_PATH != 0 && a.path == "" && c.int(0) == unix.AT_FDCWD {
		a.path = "."
	}
	var st unix.Statx_t
	if err := unix.Statx(a.dir, a.path, flags, c.int(3), &st); err != nil {
		return status(err)
	}
	if a.path != "" {
		c.p.seen(uint32(st.Mode), st.Mtime.Sec*1e9+int64(st.Mtime.Nsec))
	}
	if d := c.fd(0); a.path == "" && d != nil && !d.file.reg {
		t := unix.StatxTimestamp{Sec: c.p.clock.startTime() / 1e9}
		st.Ino, st.Dev_major, st.Dev_minor = d.file.in, 0, pipeDev
		st.Atime, st.Mtime, st.Ctime, st.Btime = t, t, t, t
	}
	return c.answer(c.args[4], structBytes(&st), 0)
}

func sysStatfs(c *call) int64 {
	a, e := c.at(-1, 0)
	if e != 0 {
		return fail(e)
	}
	fd, err := unix.Openat(a.dir, a.path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return status(err)
	}
	defer unix.Close(fd)
	return c.statfs(fd)
}

func sysFstatfs(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	return c.statfs(d.host)
}

func (c *call) statfs(fd int) int64 {
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return status(err)
	}
	return c.answer(c.args[1], structBytes(&st), 0)
}

// pathCall does a call with one path.
func (c *call) pathCall(dir, path int, do func(at) error) int64 {
	a, e := c.at(dir, path)
	if e != 0 {
		return fail(e)
	}
	return status(do(a))
}

func (c *call) access(dir, path, mode, flags int) int64 {
	if s, e := c.string(path); e == 0 {
		if _, ok := c.synthetic(s); ok {
			return map[bool]int64{false: 0, true: fail(unix.EACCES)}[mode&unix.W_OK != 0]
		}
	}
	return c.pathCall(dir, path, func(a at) error { return unix.Faccessat(a.dir, a.path, uint32(mode), flags) })
}

func sysAccess(c *call) int64     { return c.access(-1, 0, c.int(1), 0) }
func sysFaccessat(c *call) int64  { return c.access(0, 1, c.int(2), 0) }
func sysFaccessat2(c *call) int64 { return c.access(0, 1, c.int(2), c.int(3)) }

func sysReadlink(c *call) int64   { return c.readlink(-1, 0, c.args[1], c.args[2]) }
func sysReadlinkat(c *call) int64 { return c.readlink(0, 1, c.args[2], c.args[3]) }

func (c *call) readlink(dir, path int, to, n uint64) int64 {
	if int64(n) <= 0 {
		return fail(unix.EINVAL)
	}
	s, e := c.string(path)
	if e != 0 {
		return fail(e)
	}
	var text []byte
	if d := c.dirFD(dir); d != nil && d.file.proc != nil && len(s) > 0 && s[0] != '/' {
		s = d.file.path + "/" + s
	}
	at, own := c.p.proc(s)
	link, made := "", false
	switch {
	case s == "/proc/self":
		link, made = strconv.Itoa(c.p.PID), true
	case s == "/proc/thread-self":
		link, made = fmt.Sprintf("%d/task/%d", c.p.PID, c.t.TID), true
	case own:
		link, made = at.link()
	}
	if made {
		text = []byte(link)
	} else {
		a, e := c.at(dir, path)
		if e != 0 {
			return fail(e)
		}
		buf := make([]byte, unix.PathMax)
		k, err := unix.Readlinkat(a.dir, a.path, buf)
		if err != nil {
			return status(err)
		}
		text = buf[:k]
	}
	text = text[:min(uint64(len(text)), n)]
	return c.answer(to, text, int64(len(text)))
}

func sysGetcwd(c *call) int64 {
	buf := make([]byte, unix.PathMax)
	k, err := unix.Readlinkat(unix.AT_FDCWD, procFD(c.p.cwd), buf)
	if err != nil {
		return status(err)
	}
	buf = append(buf[:k], 0)
	if uint64(len(buf)) > c.args[1] {
		return fail(unix.ERANGE)
	}
	return c.answer(c.args[0], buf, int64(len(buf)))
}

func sysChdir(c *call) int64 {
	a, e := c.at(-1, 0)
	if e != 0 {
		return fail(e)
	}
	fd, err := unix.Openat(a.dir, a.path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return status(err)
	}
	return c.chdir(fd)
}

func sysFchdir(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	fd, err := unix.Openat(d.host, ".", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return status(err)
	}
	return c.chdir(fd)
}

func (c *call) chdir(fd int) int64 {
	if err := unix.Faccessat(fd, ".", unix.X_OK, 0); err != nil {
		unix.Close(fd)
		return status(err)
	}
	unix.Close(c.p.cwd)
	c.p.cwd = fd
	return 0
}

func sysMkdir(c *call) int64 {
	return c.pathCall(-1, 0, func(a at) error { return unix.Mkdirat(a.dir, a.path, uint32(c.args[1])) })
}

func sysMkdirat(c *call) int64 {
	return c.pathCall(0, 1, func(a at) error { return unix.Mkdirat(a.dir, a.path, uint32(c.args[2])) })
}

func sysRmdir(c *call) int64 {
	return c.pathCall(-1, 0, func(a at) error { return unix.Unlinkat(a.dir, a.path, unix.AT_REMOVEDIR) })
}

func sysUnlink(c *call) int64 {
	return c.pathCall(-1, 0, func(a at) error { return unix.Unlinkat(a.dir, a.path, 0) })
}

func sysUnlinkat(c *call) int64 {
	return c.pathCall(0, 1, func(a at) error { return unix.Unlinkat(a.dir, a.path, c.int(2)) })
}

// pathsCall does a call with two paths.
func (c *call) pathsCall(dir1, path1, dir2, path2 int, do func(a, b at) error) int64 {
	a, e := c.at(dir1, path1)
	if e != 0 {
		return fail(e)
	}
	b, e := c.at(dir2, path2)
	if e != 0 {
		return fail(e)
	}
	return status(do(a, b))
}

func sysRename(c *call) int64 {
	return c.pathsCall(-1, 0, -1, 1, func(a, b at) error { return unix.Renameat(a.dir, a.path, b.dir, b.path) })
}

func sysRenameat(c *call) int64 {
	return c.pathsCall(0, 1, 2, 3, func(a, b at) error { return unix.Renameat(a.dir, a.path, b.dir, b.path) })
}

func sysRenameat2(c *call) int64 {
	return c.pathsCall(0, 1, 2, 3, func(a, b at) error {
		return unix.Renameat2(a.dir, a.path, b.dir, b.path, uint(c.args[4]))
	})
}

func sysLink(c *call) int64 {
	return c.pathsCall(-1, 0, -1, 1, func(a, b at) error { return unix.Linkat(a.dir, a.path, b.dir, b.path, 0) })
}

func sysLinkat(c *call) int64 {
	return c.pathsCall(0, 1, 2, 3, func(a, b at) error {
		return unix.Linkat(a.dir, a.path, b.dir, b.path, c.int(4))
	})
}

func sysSymlink(c *call) int64   { return c.symlink(-1, 1) }
func sysSymlinkat(c *call) int64 { return c.symlink(1, 2) }

func (c *call) symlink(dir, path int) int64 {
	target, e := c.string(0)
	if e != 0 {
		return fail(e)
	}
	return c.pathCall(dir, path, func(a at) error { return unix.Symlinkat(target, a.dir, a.path) })
}

func sysMknod(c *call) int64 {
	return c.pathCall(-1, 0, func(a at) error { return unix.Mknodat(a.dir, a.path, uint32(c.args[1]), int(c.args[2])) })
}

func sysMknodat(c *call) int64 {
	return c.pathCall(0, 1, func(a at) error { return unix.Mknodat(a.dir, a.path, uint32(c.args[2]), int(c.args[3])) })
}

func sysChmod(c *call) int64 {
	return c.pathCall(-1, 0, func(a at) error { return unix.Fchmodat(a.dir, a.path, uint32(c.args[1]), 0) })
}

func sysFchmodat(c *call) int64 {
	return c.pathCall(0, 1, func(a at) error { return unix.Fchmodat(a.dir, a.path, uint32(c.args[2]), 0) })
}

func sysFchmod(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	return status(unix.Fchmod(d.host, uint32(c.args[1])))
}

func sysChown(c *call) int64 {
	return c.pathCall(-1, 0, func(a at) error { return unix.Fchownat(a.dir, a.path, c.int(1), c.int(2), 0) })
}

func sysLchown(c *call) int64 {
	return c.pathCall(-1, 0, func(a at) error {
		return unix.Fchownat(a.dir, a.path, c.int(1), c.int(2), unix.AT_SYMLINK_NOFOLLOW)
	})
}

func sysFchownat(c *call) int64 {
	return c.pathCall(0, 1, func(a at) error { return unix.Fchownat(a.dir, a.path, c.int(2), c.int(3), c.int(4)) })
}

func sysFchown(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	return status(unix.Fchown(d.host, c.int(1), c.int(2)))
}

func sysUtimensat(c *call) int64 {
	times := [2]unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	if c.args[2] != 0 {
		var b [32]byte
		if e := c.read(c.args[2], b[:]); e != 0 {
			return fail(e)
		}
		for i := range times {
			times[i] = unix.Timespec{Sec: int64(le64(b[16*i:])), Nsec: int64(le64(b[16*i+8:]))}
		}
	}
	if c.args[1] == 0 {
		d := c.fd(0)
		if d == nil {
			return fail(unix.EBADF)
		}
		return status(unix.UtimesNanoAt(unix.AT_FDCWD, procFD(d.host), times[:], 0))
	}
	return c.pathCall(0, 1, func(a at) error { return unix.UtimesNanoAt(a.dir, a.path, times[:], c.int(3)) })
}

func sysUtimes(c *call) int64    { return c.utimes(-1, 0, c.args[1]) }
func sysFutimesat(c *call) int64 { return c.utimes(0, 1, c.args[2]) }

// utimes sets the times of a path from the two struct timeval at from.
func (c *call) utimes(dir, path int, from uint64) int64 {
	times := [2]unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	if from != 0 {
		var b [32]byte
		if e := c.read(from, b[:]); e != 0 {
			return fail(e)
		}
		for i := range times {
			ns := getTimeval(b[16*i:])
			if ns < 0 {
				return fail(unix.EINVAL)
			}
			times[i] = timespec(ns)
		}
	}
	return c.pathCall(dir, path, func(a at) error { return unix.UtimesNanoAt(a.dir, a.path, times[:], 0) })
}

func sysUtime(c *call) int64 {
	times := [2]unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	if c.args[1] != 0 {
		var b [16]byte
		if e := c.read(c.args[1], b[:]); e != 0 {
			return fail(e)
		}
		times = [2]unix.Timespec{{Sec: int64(le64(b[0:]))}, {Sec: int64(le64(b[8:]))}}
	}
	return c.pathCall(-1, 0, func(a at) error { return unix.UtimesNanoAt(a.dir, a.path, times[:], 0) })
}

func sysUmask(c *call) int64 {
	old := c.p.umask
	c.p.umask = c.int(0) & 0o777
	c.p.useUmask()
	return int64(old)
}

// useUmask makes p's file mode creation mask this process's: the host's calls
// know no other.
func (p *Process) useUmask() {
	if f := p.fam; f.umask != p.umask {
		f.umask = p.umask
		unix.Umask(f.umask)
	}
}

// structBytes shows a kernel structure as the bytes that it has in memory: the
// host's layout is the guest's.
func structBytes[T unix.Stat_t | unix.Statx_t | unix.Statfs_t | unix.Rusage | unix.Utsname](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}
