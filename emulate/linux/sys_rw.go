package linux

import (
	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate"
)

func init() {
	addCalls([]sysRow{
		{nr: 0, name: "read", args: "fd, >buf, n", fn: sysRead, pokes: true},
		{nr: 1, name: "write", args: "fd, <buf, n", fn: sysWrite, rel: releaseOut, pokes: true},
		{nr: 17, name: "pread64", args: "fd, >buf, n, offset", fn: sysPread},
		{nr: 18, name: "pwrite64", args: "fd, <buf, n, offset", fn: sysPwrite, rel: releaseOut},
		{nr: 19, name: "readv", args: "fd, <iov, iovcnt", fn: sysReadv, pokes: true},
		{nr: 20, name: "writev", args: "fd, <iov, iovcnt", fn: sysWritev, rel: releaseOut, pokes: true},
		{nr: 295, name: "preadv", args: "fd, <iov, iovcnt, offset", fn: sysPreadv},
		{nr: 296, name: "pwritev", args: "fd, <iov, iovcnt, offset", fn: sysPwritev, rel: releaseOut},
		{nr: 327, name: "preadv2", args: "fd, <iov, iovcnt, offset, _, flags", fn: sysPreadv2,
			note: "flags answer EOPNOTSUPP"},
		{nr: 328, name: "pwritev2", args: "fd, <iov, iovcnt, offset, _, flags", fn: sysPwritev2,
			rel: releaseOut, note: "flags answer EOPNOTSUPP"},
		{nr: 8, name: "lseek", args: "fd, offset, whence", fn: sysLseek},
		{nr: 40, name: "sendfile", args: "out, in, ~offset, n", fn: sysSendfile, rel: releaseOut, pokes: true},
		{nr: 326, name: "copy_file_range", args: "in, ~inoff, out, ~outoff, n, flags", fn: sysCopyRange},
	})
}

// maxIO bounds one transfer in bytes; Linux's own bound is 2 GiB.
const maxIO = 64 << 20

// outChunk is how much goes to a pipe of the outside world at a time, so that
// the host never blocks: PIPE_BUF.
const outChunk = 4096

// iovecs reads an array of struct iovec.
func (c *call) iovecs(addr uint64, n uint64) ([]Range, unix.Errno) {
	if n > 1024 {
		return nil, unix.EINVAL
	}
	b := make([]byte, 16*n)
	if e := c.read(addr, b); e != 0 {
		return nil, e
	}
	iov := make([]Range, n)
	var sum uint64
	for i := range iov {
		iov[i] = Range{emulate.Addr(le64(b[16*i:])), le64(b[16*i+8:])}
		if sum += iov[i].N; iov[i].N > 1<<62 || sum > 1<<62 {
			return nil, unix.EINVAL
		}
	}
	return iov, 0
}

// one is a single buffer as an iovec.
func one(addr, n uint64) []Range { return []Range{{emulate.Addr(addr), n}} }

func total(iov []Range) int {
	var n uint64
	for _, r := range iov {
		n += r.N
	}
	return int(min(n, maxIO))
}

// buffer returns n bytes that are good until the next call of buffer.
func (p *Process) buffer(n int) []byte {
	if n > cap(p.scratch) {
		p.scratch = make([]byte, max(n, 64<<10))
	}
	return p.scratch[:n]
}

// gather copies n bytes, from byte skip on, of what iov shows.
func (c *call) gather(iov []Range, skip, n int) ([]byte, unix.Errno) {
	buf := c.p.buffer(n)[:0]
	for _, r := range iov {
		if uint64(skip) >= r.N {
			skip -= int(r.N)
			continue
		}
		k := min(int(min(r.N, maxIO))-skip, n-len(buf))
		if k <= 0 {
			break
		}
		part := buf[len(buf) : len(buf)+k]
		if e := c.read(uint64(r.Addr)+uint64(skip), part); e != 0 {
			return nil, e
		}
		buf = buf[:len(buf)+k]
		skip = 0
	}
	return buf, 0
}

// scatter copies b to what iov shows and returns how much it could.
func (c *call) scatter(iov []Range, b []byte) int {
	done := 0
	for _, r := range iov {
		part := b[done:][:min(r.N, uint64(len(b)-done))]
		if c.write(uint64(r.Addr), part) == 0 {
			done += len(part)
			continue
		}
		for at := uint64(r.Addr); len(part) > 0; { // up to the page that can't be written
			k := min(PageSize-int(at&pageMask), len(part))
			if c.write(at, part[:k]) != 0 {
				return done
			}
			part, at, done = part[k:], at+uint64(k), done+k
		}
	}
	return done
}

// deliverInput scatters what a call received; -EFAULT if nothing fits.
func (c *call) deliverInput(iov []Range, b []byte) int64 {
	n := c.scatter(iov, b)
	if n == 0 && len(b) > 0 {
		return fail(unix.EFAULT)
	}
	return int64(n)
}

// input reads from d to iov; off < 0 means at the file's position.
func (c *call) input(d *descriptor, iov []Range, off int64) int64 {
	for _, r := range iov {
		if !c.p.AS.writable(uint64(r.Addr), min(r.N, 1)) {
			return fail(unix.EFAULT)
		}
	}
	if d.file.signals != nil {
		return c.readSignals(d, iov)
	}
	if d.file.pid != nil {
		return fail(unix.EINVAL)
	}
	n := total(iov)
	if d.file.random {
		buf := c.p.buffer(n)
		c.p.rng.fill(buf)
		return c.deliverInput(iov, buf)
	}
	if n > 0 && off < 0 && !d.ready(unix.POLLIN) {
		if d.file.nonblock {
			return fail(unix.EAGAIN)
		}
		return c.waitFD(d, unix.POLLIN)
	}
	buf := c.p.buffer(n)
	var k int
	var err error
	for {
		if off >= 0 {
			k, err = unix.Pread(d.host, buf, off)
		} else {
			k, err = unix.Read(d.host, buf)
		}
		if err != unix.EINTR {
			break
		}
	}
	if err == unix.EAGAIN && !d.file.nonblock {
		return c.waitFD(d, unix.POLLIN)
	}
	if err != nil {
		return status(err)
	}
	if k > 0 || !d.file.reg { // the end of a file tells nothing
		c.acquireIn(d)
	}
	r := c.deliverInput(iov, buf[:k])
	if lost := int64(k) - max(r, 0); lost > 0 && off < 0 {
		unix.Seek(d.host, -lost, unix.SEEK_CUR) // of files; what pipes gave is gone
	}
	return r
}

// output writes iov to d; off < 0 means at the file's position.
func (c *call) output(d *descriptor, iov []Range, off int64) int64 {
	want := total(iov)
	for {
		n := want - c.done
		if d.file.pipe && d.file.outside {
			n = min(n, outChunk)
		}
		buf, e := c.gather(iov, c.done, n)
		if e != 0 {
			return c.partial(fail(e))
		}
		if d.file.outside && !c.drained(d) {
			if d.file.nonblock {
				return c.partial(fail(unix.EAGAIN))
			}
			return c.waitFD(d, unix.POLLOUT)
		}
		if d.file.reg && c.p.limits != nil {
			k, ok := c.sizeLimited(c.offsetOf(d, off), len(buf))
			if !ok {
				return c.partial(fail(unix.EFBIG))
			}
			buf = buf[:k]
		}
		c.fileChanges(d, off, len(buf))
		var k int
		var err error
		if off >= 0 {
			k, err = unix.Pwrite(d.host, buf, off)
		} else {
			k, err = unix.Write(d.host, buf)
		}
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN && d.file.nonblock:
			return c.partial(fail(unix.EAGAIN))
		case err == unix.EAGAIN:
			return c.waitFD(d, unix.POLLOUT)
		case err == unix.EPIPE && c.done == 0:
			c.p.sendThread(c.t, siginfo{signo: int(unix.SIGPIPE), code: siUser, pid: c.p.PID})
			return fail(unix.EPIPE)
		case err != nil:
			return c.partial(status(err))
		}
		c.done += k
		if c.done >= want || k == 0 || d.file.reg || d.file.nonblock && k < n {
			return int64(c.done)
		}
		c.p.fam.pokeFds()
	}
}

// partial is the result of a transfer that can't go on: what was moved, or r.
func (c *call) partial(r int64) int64 {
	if c.done > 0 {
		return int64(c.done)
	}
	return r
}

// fileChanges tells who maps the file of d that n bytes at off (or at its
// position) are about to change.
func (c *call) fileChanges(d *descriptor, off int64, n int) {
	if !c.p.AS.sharedFiles || !d.file.reg {
		return
	}
	c.p.AS.fileChanges(c.t, d.host, c.offsetOf(d, off), n)
}

// offsetOf is where a write to the file of d goes, if off < 0: at its position, or
// at the end.
func (c *call) offsetOf(d *descriptor, off int64) int64 {
	if off >= 0 {
		return off
	}
	if fl, err := unix.FcntlInt(uintptr(d.host), unix.F_GETFL, 0); err == nil && fl&unix.O_APPEND != 0 {
		var st unix.Stat_t
		unix.Fstat(d.host, &st)
		return st.Size
	}
	off, _ = unix.Seek(d.host, 0, unix.SEEK_CUR)
	return off
}

func sysRead(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	return c.input(d, one(c.args[1], c.args[2]), -1)
}

func sysWrite(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	return c.output(d, one(c.args[1], c.args[2]), -1)
}

func sysPread(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	if int64(c.args[3]) < 0 {
		return fail(unix.EINVAL)
	}
	return c.input(d, one(c.args[1], c.args[2]), int64(c.args[3]))
}

func sysPwrite(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	if int64(c.args[3]) < 0 {
		return fail(unix.EINVAL)
	}
	return c.output(d, one(c.args[1], c.args[2]), int64(c.args[3]))
}

// vector does a call with an iovec array at argument 1.
func (c *call) vector(do func(*descriptor, []Range, int64) int64, off int64) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	iov, e := c.iovecs(c.args[1], c.args[2])
	if e != 0 {
		return fail(e)
	}
	return do(d, iov, off)
}

func sysReadv(c *call) int64  { return c.vector(c.input, -1) }
func sysWritev(c *call) int64 { return c.vector(c.output, -1) }

func sysPreadv(c *call) int64 {
	if int64(c.args[3]) < 0 {
		return fail(unix.EINVAL)
	}
	return c.vector(c.input, int64(c.args[3]))
}

func sysPwritev(c *call) int64 {
	if int64(c.args[3]) < 0 {
		return fail(unix.EINVAL)
	}
	return c.vector(c.output, int64(c.args[3]))
}

func sysPreadv2(c *call) int64 {
	if c.args[5] != 0 {
		return fail(unix.EOPNOTSUPP)
	}
	return c.vector(c.input, max(int64(c.args[3]), -1))
}

func sysPwritev2(c *call) int64 {
	if c.args[5] != 0 {
		return fail(unix.EOPNOTSUPP)
	}
	return c.vector(c.output, max(int64(c.args[3]), -1))
}

func sysLseek(c *call) int64 {
	d := c.fd(0)
	if d == nil {
		return fail(unix.EBADF)
	}
	if d.file.proc != nil && c.int(2) == unix.SEEK_SET {
		d.file.proc.next = int(c.args[1])
	}
	return result(unix.Seek(d.host, int64(c.args[1]), c.int(2)))
}

func sysSendfile(c *call) int64 {
	out, in := c.fd(0), c.fd(1)
	if out == nil || in == nil {
		return fail(unix.EBADF)
	}
	if out.file.outside && !c.drained(out) {
		if out.file.nonblock {
			return fail(unix.EAGAIN)
		}
		return c.waitFD(out, unix.POLLOUT)
	}
	n := int(min(c.args[3], maxIO))
	if out.file.pipe && out.file.outside {
		n = min(n, outChunk)
	}
	c.fileChanges(out, -1, n)
	if c.args[2] == 0 {
		r := result(unix.Sendfile(out.host, in.host, nil, n))
		if r == -int64(unix.EAGAIN) && !out.file.nonblock {
			return c.waitFD(out, unix.POLLOUT)
		}
		return r
	}
	var b [8]byte
	if e := c.read(c.args[2], b[:]); e != 0 {
		return fail(e)
	}
	off := int64(le64(b[:]))
	r := result(unix.Sendfile(out.host, in.host, &off, n))
	if r == -int64(unix.EAGAIN) && !out.file.nonblock {
		return c.waitFD(out, unix.POLLOUT)
	}
	put64(b[:], uint64(off))
	if e := c.write(c.args[2], b[:]); e != 0 {
		return fail(e)
	}
	return r
}

func sysCopyRange(c *call) int64 {
	in, out := c.fd(0), c.fd(2)
	if in == nil || out == nil {
		return fail(unix.EBADF)
	}
	return c.between(in, out, func(from, to *int64, n int) int64 {
		return result(unix.CopyFileRange(in.host, from, out.host, to, n, int(c.args[5])))
	})
}
