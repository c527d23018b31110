package linux

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A file is an open file description, as far as the guest's view of it differs
// from the host's. Descriptors that the guest duplicates share it.
type file struct {
	path     string
	reg      bool // regular file, directory or block device: never blocks
	pipe     bool // writes of more than PIPE_BUF may block in the middle
	outside  bool // the outside world can make it ready; the host may block
	given    bool // one of the descriptors that the guest started with
	nonblock bool // what the guest set as O_NONBLOCK
	random   bool // /dev/urandom: bytes follow from the seed
	// in and out are the channels that data comes from and goes to, for
	// Object; 0: none.
	in, out uint64
	timer   *fdTimer    // a timerfd
	signals *signalFile // a signalfd
	pid     *pidFile    // a pidfd
	proc    *procDir    // a directory in /proc
	ofPID   int         // the process whose directory in /proc it is, 0: none
	made    bool        // its content is made up
	watched []watched   // by an epoll instance
	owner   int         // whom SIGIO is for (F_SETOWN)
	sig     int         // instead of SIGIO (F_SETSIG), 0: SIGIO
	// With O_ASYNC: the key in asyncIO.files, 0: without; the host's and the
	// guest's descriptor.
	asyncKey  int32
	asyncHost int
	asyncFD   int
	locked    bool // it has, or had, locks of its own (flock, F_OFD_SETLK)
}

// A watched file is one that an epoll instance tells about, by what was given
// to it as data.
type watched struct {
	file *file
	fd   int
	data [2]int32
}

// A descriptor is one entry of the guest's table.
type descriptor struct {
	host    int // the host's descriptor, ours alone
	file    *file
	cloexec bool
}

// fdTable maps the guest's descriptors to the host's. A free entry has no file.
type fdTable struct {
	list []descriptor
	max  int // RLIMIT_NOFILE
}

// hostFDs is the lowest number for host descriptors of the guest.
const hostFDs = 64

// dupHost duplicates a host descriptor to a number of our own.
func dupHost(fd int) (int, error) {
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, hostFDs)
}

// inherit fills entries 0 to 2.
func (ft *fdTable) inherit(p *Process, files ...*os.File) error {
	ft.max = 1024
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) == nil && r.Cur < 1<<20 {
		ft.max = int(r.Cur)
	}
	for i, f := range files {
		fd, err := dupHost(int(f.Fd()))
		if err == unix.EBADF {
			continue // closed here, closed there
		}
		if err != nil {
			return fmt.Errorf("linux: the guest's descriptor %d: %w", i, err)
		}
		d := p.describe(fd, f.Name())
		d.outside = !d.reg
		d.given = true
		if fl, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err == nil {
			d.nonblock = fl&unix.O_NONBLOCK != 0
		}
		ft.set(i, descriptor{host: fd, file: d})
	}
	return nil
}

// describe makes the description of a host descriptor.
func (p *Process) describe(fd int, path string) *file {
	f := &file{path: path}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil {
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG, unix.S_IFDIR, unix.S_IFBLK:
			f.reg = true
		case unix.S_IFIFO, unix.S_IFSOCK:
			f.pipe = true
		}
	}
	if f.reg {
		f.in = p.fileChannel(fd)
	} else {
		f.in = p.newChannel()
	}
	f.out = f.in
	return f
}

// A fileID tells files apart. Numbers of inodes are used again: the time of
// birth isn't.
type fileID struct {
	dev   [2]uint32
	inode uint64
	birth unix.StatxTimestamp
}

// fileChannel returns the channel that a file is: what is written to it through
// one description can be read through others.
func (p *Process) fileChannel(fd int) uint64 {
	var st unix.Statx_t
	if unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_INO|unix.STATX_BTIME, &st) != nil {
		return p.newChannel()
	}
	id := fileID{[2]uint32{st.Dev_major, st.Dev_minor}, st.Ino, st.Btime}
	f := p.fam
	n, ok := f.fileChans[id]
	if !ok {
		n = p.newChannel()
		f.fileChans[id] = n
	}
	return n
}

// newChannel returns a number for an Object.
func (p *Process) newChannel() uint64 {
	p.fam.chans++
	return p.fam.chans
}

// get returns the open descriptor n, or nil.
func (ft *fdTable) get(n int) *descriptor {
	if n < 0 || n >= len(ft.list) || ft.list[n].file == nil {
		return nil
	}
	return &ft.list[n]
}

// has reports whether a descriptor is of f.
func (ft *fdTable) has(f *file) bool {
	for i := range ft.list {
		if ft.list[i].file == f {
			return true
		}
	}
	return false
}

// free returns the lowest free number that is at least from.
func (ft *fdTable) free(from int) (int, unix.Errno) {
	n := from
	for n < len(ft.list) && ft.list[n].file != nil {
		n++
	}
	if n >= ft.max {
		return 0, unix.EMFILE
	}
	return n, 0
}

// set puts d at n, which must be free.
func (ft *fdTable) set(n int, d descriptor) {
	for n >= len(ft.list) {
		ft.list = append(ft.list, descriptor{})
	}
	ft.list[n] = d
}

// add gives d the lowest free number; if there is none it closes d.
func (ft *fdTable) add(d descriptor) int64 {
	n, e := ft.free(0)
	if e != 0 {
		unix.Close(d.host)
		return fail(e)
	}
	ft.set(n, d)
	return int64(n)
}

// close closes n.
func (ft *fdTable) close(n int) unix.Errno {
	d := ft.get(n)
	if d == nil {
		return unix.EBADF
	}
	host := d.host
	*d = descriptor{}
	if err := unix.Close(host); err != nil && err != unix.EINTR {
		return err.(unix.Errno)
	}
	return 0
}

// closeFD closes the descriptor n.
func (p *Process) closeFD(n int) unix.Errno {
	if d := p.fds.get(n); d != nil && d.file.timer != nil {
		d.file.timer.unref()
	} else if d != nil && d.file.signals != nil {
		if d.file.signals.refs--; d.file.signals.refs == 0 {
			unix.Close(d.file.signals.host)
		}
	} else if d != nil && d.file.pid != nil {
		p.fam.unrefPid(d.file.pid)
	}
	if d := p.fds.get(n); d != nil && d.file.reg {
		p.dropLocks(d)
		defer p.fam.wakeLocks()
	}
	return p.fds.close(n)
}

// share notes that one more descriptor is of f.
func (f *file) share() {
	if f.timer != nil {
		f.timer.refs++
	}
	if f.signals != nil {
		f.signals.refs++
	}
	if f.pid != nil {
		f.pid.refs++
	}
}

// fd returns the descriptor that argument i names, or nil: EBADF.
func (c *call) fd(i int) *descriptor { return c.p.fds.get(c.int(i)) }

// adopt enters a new host descriptor, moved to a number of our own, into the
// guest's table.
func (c *call) adopt(host int, path string, cloexec bool, set func(f *file)) int64 {
	own, err := dupHost(host)
	unix.Close(host)
	if err != nil {
		return status(err)
	}
	f := c.p.describe(own, path)
	if set != nil {
		set(f)
	}
	return c.p.fds.add(descriptor{host: own, file: f, cloexec: cloexec})
}

// ready asks the host, without waiting, for any of events (POLLERR and POLLHUP
// count, too).
func (d *descriptor) ready(events int16) bool {
	if d.file.reg {
		return true
	}
	fds := []unix.PollFd{{Fd: int32(d.host), Events: events}}
	n, err := unix.Poll(fds, 0)
	return n > 0 || (err != nil && err != unix.EINTR)
}

// patience is how long the whole guest waits for a reader of its output, in
// ms, before only the writing thread does.
const patience = 1000

// drained waits until the host takes more output to d, even if the guest would
// rather get EAGAIN: when everybody waits here, a run doesn't depend on how
// fast its output is read.
func (c *call) drained(d *descriptor) bool {
	if d.ready(unix.POLLOUT) {
		return true
	}
	if !d.file.given {
		return false
	}
	fds := []unix.PollFd{{Fd: int32(d.host), Events: unix.POLLOUT}}
	for i := 0; i < patience/10; i++ {
		n, err := unix.Poll(fds, 10)
		if n > 0 || err != nil && err != unix.EINTR {
			return true
		}
		if len(c.p.hostSignals) > 0 {
			break
		}
	}
	return false
}

// waitFD blocks the call until d may be ready. Interrupted, a transfer returns
// what it has moved.
func (c *call) waitFD(d *descriptor, events int16) int64 {
	return c.t.block(&wait{
		what:    c.row.name,
		fds:     []unix.PollFd{{Fd: int32(d.host), Events: events}},
		outside: d.file.outside,
		intr:    c.partial(erestartSys),
	})
}

// releaseOut is the rel of calls that send data through descriptor argument 0.
func releaseOut(c *call) []Object {
	if d := c.fd(0); d != nil && d.file.out != 0 {
		return []Object{{ObjChannel, d.file.out}}
	}
	return nil
}

// acquireIn notes that data came from d.
func (c *call) acquireIn(d *descriptor) {
	if d.file.in != 0 {
		c.acquire(Object{ObjChannel, d.file.in})
	}
}
