package linux

import (
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate"
)

// hookAddr is the type of addresses in Hooks.
type hookAddr = emulate.Addr

// remapShared maps the file fd from off over mem, readable and writable,
// without moving it.
func remapShared(mem []byte, fd int, off int64) error {
	_, _, e := unix.Syscall6(unix.SYS_MMAP, uintptr(unsafe.Pointer(&mem[0])), uintptr(len(mem)),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED, uintptr(fd), uintptr(off))
	if e != 0 {
		return e
	}
	return nil
}

// ioctlBytes makes an ioctl whose argument is b.
func ioctlBytes(fd int, req uint32, b []byte) int64 {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(req), uintptr(unsafe.Pointer(&b[0])))
	return -int64(e)
}

// procFD names a host descriptor as a path.
func procFD(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// Socket calls on raw addresses. Results are values or negated errnos.

func bytesAt(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// hostBytes makes a call with arguments fd, pointer, length, last.
func hostBytes(nr uintptr, fd int, b []byte, last uintptr) int64 {
	r, _, e := unix.Syscall6(nr, uintptr(fd), uintptr(bytesAt(b)), uintptr(len(b)), last, 0, 0)
	if e != 0 {
		return fail(e)
	}
	return int64(r)
}

// hostAddr makes a call with arguments fd, >address, ~length, last, and returns
// the address's length.
func hostAddr(nr uintptr, fd int, b []byte, last uintptr) (int64, int) {
	n := uint32(len(b))
	r, _, e := unix.Syscall6(nr, uintptr(fd), uintptr(bytesAt(b)), uintptr(unsafe.Pointer(&n)), last, 0, 0)
	if e != 0 {
		return fail(e), 0
	}
	return int64(r), min(int(n), len(b))
}

func hostOption(fd, level, opt int, b []byte) (int64, int) {
	n := uint32(len(b))
	_, _, e := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), uintptr(level), uintptr(opt),
		uintptr(bytesAt(b)), uintptr(unsafe.Pointer(&n)), 0)
	return -int64(e), min(int(n), len(b))
}

func hostSend(fd int, b, to []byte, flags int) int64 {
	r, _, e := unix.Syscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(bytesAt(b)), uintptr(len(b)),
		uintptr(flags), uintptr(bytesAt(to)), uintptr(len(to)))
	if e != 0 {
		return fail(e)
	}
	return int64(r)
}

func hostReceive(fd int, b, from []byte, flags int) (int64, int) {
	n := uint32(len(from))
	r, _, e := unix.Syscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(bytesAt(b)), uintptr(len(b)),
		uintptr(flags), uintptr(bytesAt(from)), uintptr(unsafe.Pointer(&n)))
	if e != 0 {
		return fail(e), 0
	}
	return int64(r), min(int(n), len(from))
}

// A hostMsg is the outcome of sendmsg or recvmsg on the host.
type hostMsg struct {
	r             int64
	name, control int // lengths
	flags         uint32
}

// hostMessage makes the call nr, SYS_SENDMSG or SYS_RECVMSG.
func hostMessage(nr uintptr, fd int, name, buf, control []byte, flags int) hostMsg {
	iov := unix.Iovec{Base: unsafe.SliceData(buf)}
	iov.SetLen(len(buf))
	m := unix.Msghdr{Name: unsafe.SliceData(name), Namelen: uint32(len(name)), Iov: &iov, Control: unsafe.SliceData(control)}
	m.SetIovlen(1)
	m.SetControllen(len(control))
	r, _, e := unix.Syscall(nr, uintptr(fd), uintptr(unsafe.Pointer(&m)), uintptr(flags))
	if e != 0 {
		return hostMsg{r: fail(e)}
	}
	return hostMsg{int64(r), min(int(m.Namelen), len(name)), min(int(m.Controllen), len(control)), uint32(m.Flags)}
}

// hostMqReceive takes a message of a POSIX queue to b, its priority to prio.
func hostMqReceive(fd int, b []byte, prio *uint32) int64 {
	r, _, e := unix.Syscall6(unix.SYS_MQ_TIMEDRECEIVE, uintptr(fd), uintptr(bytesAt(b)), uintptr(len(b)),
		uintptr(unsafe.Pointer(prio)), 0, 0)
	if e != 0 {
		return fail(e)
	}
	return int64(r)
}

// hostMqAttr reads the attributes of a POSIX queue.
func hostMqAttr(fd int, b *[mqAttrSize]byte) int64 {
	_, _, e := unix.Syscall(unix.SYS_MQ_GETSETATTR, uintptr(fd), 0, uintptr(unsafe.Pointer(b)))
	return -int64(e)
}
