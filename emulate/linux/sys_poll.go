package linux

import (
	"golang.org/x/sys/unix"
)

func init() {
	addCalls([]sysRow{
		{nr: 7, name: "poll", args: "~fds, n, timeout", fn: sysPoll},
		{nr: 271, name: "ppoll", args: "~fds, n, <timeout, <mask, size", fn: sysPpoll,
			note: "doesn't write back the time left"},
		{nr: 23, name: "select", args: "n, ~read, ~write, ~except, ~timeout", fn: sysSelect},
		{nr: 270, name: "pselect6", args: "n, ~read, ~write, ~except, <timeout, <mask", fn: sysPselect,
			note: "doesn't write back the time left"},
		{nr: 213, name: "epoll_create", args: "size", fn: sysEpollCreate},
		{nr: 291, name: "epoll_create1", args: "flags", fn: sysEpollCreate1},
		{nr: 233, name: "epoll_ctl", args: "epfd, op, fd, <event", fn: sysEpollCtl, pokes: true},
		{nr: 232, name: "epoll_wait", args: "epfd, >events, n, timeout", fn: sysEpollWait},
		{nr: 281, name: "epoll_pwait", args: "epfd, >events, n, timeout, <mask, size", fn: sysEpollPwait},
		{nr: 441, name: "epoll_pwait2", args: "epfd, >events, n, <timeout, <mask, size", fn: sysEpollPwait2},
	})
}

// timeoutMS sets the deadline from a timeout in ms; negative: never.
func (c *call) timeoutMS(ms int) {
	if c.deadline == 0 {
		c.deadline = never
		if ms >= 0 {
			c.deadline = saturate(c.p.Now(), int64(ms)*1e6)
		}
	}
}

// timeoutSpec sets the deadline from the struct timespec at addr; 0: never.
func (c *call) timeoutSpec(addr uint64) unix.Errno {
	if c.deadline != 0 {
		return 0
	}
	if addr == 0 {
		c.deadline = never
		return 0
	}
	ns, e := c.getTimespec(addr)
	if e == 0 {
		c.deadline = saturate(c.p.Now(), ns)
	}
	return e
}

// tempMask sets the signal mask for the length of the call.
func (c *call) tempMask(addr uint64) unix.Errno {
	if addr == 0 || c.t.savedMask != nil {
		return 0
	}
	set, e := c.readSet(addr)
	if e == 0 {
		c.t.swapMask(set)
	}
	return e
}

func sysPoll(c *call) int64 {
	c.timeoutMS(c.int(2))
	return c.poll()
}

func sysPpoll(c *call) int64 {
	if e := c.timeoutSpec(c.args[2]); e != 0 {
		return fail(e)
	}
	if e := c.tempMask(c.args[3]); e != 0 {
		return fail(e)
	}
	return c.poll()
}

// poll does poll(2) for the array in arguments 0 and 1.
func (c *call) poll() int64 {
	n := c.args[1]
	if n > uint64(c.p.fds.max) {
		return fail(unix.EINVAL)
	}
	b := make([]byte, 8*n)
	if e := c.read(c.args[0], b); e != 0 {
		return fail(e)
	}
	fds := make([]unix.PollFd, n)
	files := make([]*descriptor, n)
	bad := int64(0)
	for i := range fds {
		fd := int(int32(le32(b[8*i:])))
		fds[i] = unix.PollFd{Fd: -1, Events: int16(le16(b[8*i+4:]))}
		if fd < 0 {
			continue
		}
		if files[i] = c.p.fds.get(fd); files[i] == nil {
			bad++
			continue
		}
		fds[i].Fd = int32(files[i].host)
	}
	ready, outside, e := c.pollHost(fds, files)
	if e != 0 {
		return fail(e)
	}
	if ready+bad == 0 && c.deadline > c.p.Now() {
		return c.waitPoll(fds, outside, func() int64 { return c.poll() })
	}
	for i := range fds {
		re := uint16(fds[i].Revents)
		if files[i] == nil && int32(le32(b[8*i:])) >= 0 {
			re = unix.POLLNVAL
		} else if re != 0 {
			c.acquireIn(files[i])
		}
		put16(b[8*i+6:], re)
	}
	// Only revents changes: write what the kernel writes.
	for i := range fds {
		if e := c.write(c.args[0]+uint64(8*i)+6, b[8*i+6:8*i+8]); e != 0 {
			return fail(e)
		}
	}
	return ready + bad
}

// pollHost asks the host without waiting. outside: one of files might become
// ready by itself.
func (c *call) pollHost(fds []unix.PollFd, files []*descriptor) (ready int64, outside bool, e unix.Errno) {
	for _, d := range files {
		outside = outside || d != nil && d.file.outside
	}
	for {
		n, err := unix.Poll(fds, 0)
		if err == nil {
			return int64(n), outside, 0
		}
		if err != unix.EINTR {
			return 0, outside, err.(unix.Errno)
		}
	}
}

// waitPoll blocks the call until one of fds may be ready, or its deadline.
func (c *call) waitPoll(fds []unix.PollFd, outside bool, again func() int64) int64 {
	var live []unix.PollFd
	for _, f := range fds {
		if f.Fd >= 0 {
			f.Revents = 0
			live = append(live, f)
		}
	}
	if len(live) == 0 && c.deadline == never {
		outside = c.p.hostSignals != nil
	}
	return c.t.block(&wait{what: c.row.name, fds: live, outside: outside, deadline: c.deadline,
		onTimeout: again, try: again, intr: erestartNoHand})
}

func sysSelect(c *call) int64 {
	if c.deadline == 0 {
		c.deadline = never
		if c.args[4] != 0 {
			var b [16]byte
			if e := c.read(c.args[4], b[:]); e != 0 {
				return fail(e)
			}
			ns := getTimeval(b[:])
			if ns < 0 {
				return fail(unix.EINVAL)
			}
			c.deadline = saturate(c.p.Now(), ns)
		}
	}
	r := c.selectFDs()
	if r != blocked && c.args[4] != 0 && r >= 0 {
		var b [16]byte
		putTimeval(b[:], max(c.deadline-c.p.Now(), 0))
		c.write(c.args[4], b[:])
	}
	return r
}

func sysPselect(c *call) int64 {
	if e := c.timeoutSpec(c.args[4]); e != 0 {
		return fail(e)
	}
	if c.args[5] != 0 {
		var b [16]byte // pointer to the mask, and its size
		if e := c.read(c.args[5], b[:]); e != 0 {
			return fail(e)
		}
		if e := c.tempMask(le64(b[:])); e != 0 {
			return fail(e)
		}
	}
	return c.selectFDs()
}

// selectFDs does select(2) for arguments 0 to 3.
func (c *call) selectFDs() int64 {
	n := c.int(0)
	if n < 0 {
		return fail(unix.EINVAL)
	}
	n = min(n, c.p.fds.max)
	size := (n + 63) / 64 * 8
	events := [3]int16{unix.POLLIN, unix.POLLOUT, unix.POLLPRI}
	answers := [3]int16{unix.POLLIN | unix.POLLHUP | unix.POLLERR, unix.POLLOUT | unix.POLLERR, unix.POLLPRI}
	var sets [3][]byte
	for k := range sets {
		if c.args[1+k] != 0 {
			sets[k] = make([]byte, size)
			if e := c.read(c.args[1+k], sets[k]); e != 0 {
				return fail(e)
			}
		}
	}
	var fds []unix.PollFd
	var files []*descriptor
	var nums []int
	for fd := 0; fd < n; fd++ {
		var ev int16
		for k, s := range sets {
			if s != nil && s[fd/8]>>(fd%8)&1 != 0 {
				ev |= events[k]
			}
		}
		if ev == 0 {
			continue
		}
		d := c.p.fds.get(fd)
		if d == nil {
			return fail(unix.EBADF)
		}
		fds = append(fds, unix.PollFd{Fd: int32(d.host), Events: ev})
		files = append(files, d)
		nums = append(nums, fd)
	}
	ready, outside, e := c.pollHost(fds, files)
	if e != 0 {
		return fail(e)
	}
	if ready == 0 && c.deadline > c.p.Now() {
		return c.waitPoll(fds, outside, c.selectFDs)
	}
	count := int64(0)
	for k, s := range sets {
		if s == nil {
			continue
		}
		out := make([]byte, size)
		for i, fd := range nums {
			if s[fd/8]>>(fd%8)&1 != 0 && fds[i].Revents&answers[k] != 0 {
				out[fd/8] |= 1 << (fd % 8)
				count++
				c.acquireIn(files[i])
			}
		}
		if e := c.write(c.args[1+k], out); e != 0 {
			return fail(e)
		}
	}
	return count
}

func sysEpollCreate(c *call) int64 {
	if c.int(0) <= 0 {
		return fail(unix.EINVAL)
	}
	return c.epollCreate(false)
}

func sysEpollCreate1(c *call) int64 {
	if c.int(0)&^unix.EPOLL_CLOEXEC != 0 {
		return fail(unix.EINVAL)
	}
	return c.epollCreate(c.int(0)&unix.EPOLL_CLOEXEC != 0)
}

func (c *call) epollCreate(cloexec bool) int64 {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return status(err)
	}
	return c.adopt(fd, "anon_inode:[eventpoll]", cloexec, func(f *file) { f.in = c.p.newChannel() })
}

func sysEpollCtl(c *call) int64 {
	ep, d := c.fd(0), c.fd(2)
	if ep == nil || d == nil {
		return fail(unix.EBADF)
	}
	var ev *unix.EpollEvent
	if c.int(1) != unix.EPOLL_CTL_DEL {
		var b [12]byte // packed: events, data
		if e := c.read(c.args[3], b[:]); e != 0 {
			return fail(e)
		}
		ev = &unix.EpollEvent{Events: le32(b[0:]), Fd: int32(le32(b[4:])), Pad: int32(le32(b[8:]))}
	}
	err := unix.EpollCtl(ep.host, c.int(1), d.host, ev)
	if err == nil {
		ep.file.watch(d.file, c.int(2), ev)
	}
	if err == nil && d.file.outside {
		ep.file.outside = true
	}
	return status(err)
}

// watch notes that the epoll instance tells about f, open as fd, from now on: no
// longer if ev is nil.
func (ep *file) watch(f *file, fd int, ev *unix.EpollEvent) {
	keep := ep.watched[:0]
	for _, w := range ep.watched {
		if w.file != f || w.fd != fd {
			keep = append(keep, w)
		}
	}
	if ev != nil {
		keep = append(keep, watched{f, fd, [2]int32{ev.Fd, ev.Pad}})
	}
	ep.watched = keep
}

func sysEpollWait(c *call) int64 {
	ep := c.fd(0)
	if ep == nil {
		return fail(unix.EBADF)
	}
	n := c.int(2)
	if n <= 0 || n > 1<<20 {
		return fail(unix.EINVAL)
	}
	if c.nr != sysEpollPwait2Nr {
		c.timeoutMS(c.int(3))
	}
	events := make([]unix.EpollEvent, min(n, 4096))
	k, err := unix.EpollWait(ep.host, events, 0)
	if err != nil && err != unix.EINTR {
		return status(err)
	}
	if k <= 0 && c.deadline > c.p.Now() {
		fds := []unix.PollFd{{Fd: int32(ep.host), Events: unix.POLLIN}}
		again := func() int64 { return sysEpollWait(c) }
		return c.waitPoll(fds, ep.file.outside, again)
	}
	b := make([]byte, 12*max(k, 0))
	for i := range b[:len(b)/12] {
		put32(b[12*i:], events[i].Events)
		put32(b[12*i+4:], uint32(events[i].Fd))
		put32(b[12*i+8:], uint32(events[i].Pad))
		for _, w := range ep.file.watched {
			if w.data == [2]int32{events[i].Fd, events[i].Pad} && w.file.in != 0 {
				c.acquire(Object{ObjChannel, w.file.in})
			}
		}
	}
	return c.answer(c.args[1], b, int64(max(k, 0)))
}

func sysEpollPwait(c *call) int64 {
	if e := c.tempMask(c.args[4]); e != 0 {
		return fail(e)
	}
	return sysEpollWait(c)
}

// sysEpollPwait2Nr is the number of epoll_pwait2, whose timeout is a timespec.
const sysEpollPwait2Nr = 441

func sysEpollPwait2(c *call) int64 {
	if e := c.timeoutSpec(c.args[3]); e != 0 {
		return fail(e)
	}
	return sysEpollPwait(c)
}
