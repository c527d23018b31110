package linux

import (
	"golang.org/x/sys/unix"
)

func init() {
	const note = "among the guest's processes only"
	addCalls([]sysRow{
		{nr: 310, name: "process_vm_readv", args: "pid, <local, n, <remote, rn, flags", fn: sysProcessVMReadv, note: note},
		{nr: 311, name: "process_vm_writev", args: "pid, <local, n, <remote, rn, flags", fn: sysProcessVMWritev, note: note},
	})
}

// remote reads the arguments of process_vm_readv and its like: the other process
// and both sides' buffers.
func (c *call) remote() (q *Process, local, remote []Range, e unix.Errno) {
	if c.args[5] != 0 {
		return nil, nil, nil, unix.EINVAL
	}
	if local, e = c.iovecs(c.args[1], c.args[2]); e != 0 {
		return nil, nil, nil, e
	}
	if remote, e = c.iovecs(c.args[3], c.args[4]); e != 0 {
		return nil, nil, nil, e
	}
	t := c.p.fam.thread(c.int(0))
	if t == nil {
		return nil, nil, nil, unix.ESRCH
	}
	return t.p, local, remote, 0
}

// remoteChunk is how much is moved at a time: what can't be moved ends at a page.
const remoteChunk = PageSize

// pages calls move for the parts of what iov shows, each in one page, until it
// fails or n bytes are done. It returns how many were.
func pages(iov []Range, n int, move func(addr uint64, at, k int) bool) int {
	done := 0
	for _, r := range iov {
		for off := uint64(0); off < r.N && done < n; {
			addr := uint64(r.Addr) + off
			k := min(int(min(r.N-off, remoteChunk)), remoteChunk-int(addr&pageMask), n-done)
			if !move(addr, done, k) {
				return done
			}
			done, off = done+k, off+uint64(k)
		}
	}
	return done
}

func sysProcessVMReadv(c *call) int64 {
	q, local, remote, e := c.remote()
	if e != 0 {
		return fail(e)
	}
	n := min(total(local), total(remote))
	buf := c.p.buffer(n)
	got := pages(remote, n, func(addr uint64, at, k int) bool { return q.AS.read(addr, buf[at:at+k]) == 0 })
	if got == 0 && n > 0 {
		return fail(unix.EFAULT)
	}
	return c.deliverInput(local, buf[:got])
}

func sysProcessVMWritev(c *call) int64 {
	q, local, remote, e := c.remote()
	if e != 0 {
		return fail(e)
	}
	n := min(total(local), total(remote))
	buf, e := c.gather(local, 0, n)
	if e != 0 {
		return fail(e)
	}
	put := pages(remote, n, func(addr uint64, at, k int) bool {
		if q.AS == c.p.AS {
			return c.write(addr, buf[at:at+k]) == 0
		}
		return q.AS.write(nil, addr, buf[at:at+k]) == 0
	})
	if put == 0 && n > 0 {
		return fail(unix.EFAULT)
	}
	return int64(put)
}
