package linux

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// ifreqSize is that of struct ifreq: a name of 16 bytes, and an address or number.
const ifreqSize = 40

// maxInterfaces bounds what SIOCGIFCONF lists.
const maxInterfaces = 256

// interfaces answers SIOCGIFCONF: struct ifconf is a length and a pointer to that
// much room for struct ifreq; a null pointer asks how much is needed.
func (c *call) interfaces(d *descriptor) int64 {
	var b [16]byte
	if e := c.read(c.args[2], b[:]); e != 0 {
		return fail(e)
	}
	room, to := int(int32(le32(b[:]))), le64(b[8:])
	list := make([]byte, maxInterfaces*ifreqSize)
	conf := struct {
		n   int32
		buf unsafe.Pointer
	}{int32(len(list)), unsafe.Pointer(&list[0])}
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(d.host), unix.SIOCGIFCONF, uintptr(unsafe.Pointer(&conf)))
	if e != 0 {
		return fail(e)
	}
	list = list[:conf.n]
	if to != 0 {
		list = list[:max(min(len(list), room/ifreqSize*ifreqSize), 0)]
		if e := c.write(to, list); e != 0 {
			return fail(e)
		}
	}
	put32(b[:], uint32(len(list)))
	return c.answer(c.args[2], b[:4], 0)
}
