package linux

import (
	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 253, name: "inotify_init", fn: func(c *call) int64 { return c.inotify(0) }},
		{nr: 294, name: "inotify_init1", args: "flags", fn: func(c *call) int64 { return c.inotify(c.int(0)) }},
		{nr: 254, name: "inotify_add_watch", args: "fd, <path, mask", fn: sysInotifyAdd},
		{nr: 255, name: "inotify_rm_watch", args: "fd, wd", fn: sysInotifyRemove, pokes: true},
	})
}

// inotify makes an inotify descriptor: the host's.
func (c *call) inotify(flags int) int64 {
	if flags&^(unix.IN_CLOEXEC|unix.IN_NONBLOCK) != 0 {
		return fail(unix.EINVAL)
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return status(err)
	}
	return c.adopt(fd, "anon_inode:inotify", flags&unix.IN_CLOEXEC != 0, func(f *file) {
		f.nonblock = flags&unix.IN_NONBLOCK != 0
		f.outside = true
	})
}

func sysInotifyAdd(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	a, e := c.at(-1, 1)
	if e != 0 {
		return fail(e)
	}
	path := a.path
	if len(path) == 0 || path[0] != '/' {
		path = procFD(a.dir) + "/" + path
	}
	return result(unix.InotifyAddWatch(d.host, path, uint32(c.args[2])))
}

func sysInotifyRemove(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	return result(unix.InotifyRmWatch(d.host, uint32(c.args[1])))
}
