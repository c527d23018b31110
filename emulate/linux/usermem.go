package linux

import (
	"bytes"
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate"
)

// errMemory says that the memory limit is reached: a process that touches more is
// killed, a program that doesn't fit isn't started.
var errMemory = errors.New("linux: the guest's memory limit is reached; raise it with the configuration's MemoryLimit")

// write is the one way in which the kernel personality changes guest memory.
// It changes nothing and returns EFAULT if any byte can't be written.
func (as *AddressSpace) write(t *Thread, addr uint64, data []byte) unix.Errno {
	if !as.writable(addr, uint64(len(data))) {
		return unix.EFAULT
	}
	if t != nil && !t.p.recorded && as.hooks != t.p.hooks {
		t = nil // borrowed memory: its owner's hooks don't know t
	}
	for len(data) > 0 {
		f, stop := as.Translate(addr>>pageShift, true)
		if stop != nil {
			return unix.EFAULT
		}
		off := int(addr & pageMask)
		n := min(PageSize-off, len(data))
		as.hooks.KernelWrite(t, emulate.Addr(addr), f, off, n)
		if f.Code {
			as.CodeWritten(f)
		}
		copy(f.Data[off:], data[:n])
		data = data[n:]
		addr += uint64(n)
	}
	return 0
}

// writable reports whether the guest could write all of [addr, addr+n).
func (as *AddressSpace) writable(addr, n uint64) bool {
	return as.accessible(addr, n, true)
}

// readable reports whether the guest could read all of [addr, addr+n).
func (as *AddressSpace) readable(addr, n uint64) bool {
	return as.accessible(addr, n, false)
}

func (as *AddressSpace) accessible(addr, n uint64, write bool) bool {
	if n == 0 {
		return true
	}
	end := addr + n
	if end < addr || end > taskSize {
		return false
	}
	for page := addr >> pageShift; page <= (end-1)>>pageShift; page++ {
		if _, stop := as.Translate(page, write); stop != nil {
			return false
		}
	}
	return true
}

// read copies guest memory to data; EFAULT if any byte can't be read.
func (as *AddressSpace) read(addr uint64, data []byte) unix.Errno {
	for len(data) > 0 {
		f, stop := as.Translate(addr>>pageShift, false)
		if stop != nil {
			return unix.EFAULT
		}
		n := copy(data, f.Data[addr&pageMask:])
		data = data[n:]
		addr += uint64(n)
	}
	return 0
}

func (as *AddressSpace) read32(addr uint64) (uint32, unix.Errno) {
	var b [4]byte
	e := as.read(addr, b[:])
	return binary.LittleEndian.Uint32(b[:]), e
}

func (as *AddressSpace) read64(addr uint64) (uint64, unix.Errno) {
	var b [8]byte
	e := as.read(addr, b[:])
	return binary.LittleEndian.Uint64(b[:]), e
}

func (as *AddressSpace) write32(t *Thread, addr uint64, v uint32) unix.Errno {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], v)
	return as.write(t, addr, b[:])
}

func (as *AddressSpace) write64(t *Thread, addr uint64, v uint64) unix.Errno {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	return as.write(t, addr, b[:])
}

// cstring reads a string that ends with a zero byte, of less than max bytes.
func (as *AddressSpace) cstring(addr uint64, max int) (string, unix.Errno) {
	var out []byte
	for len(out) < max {
		f, stop := as.Translate(addr>>pageShift, false)
		if stop != nil {
			return "", unix.EFAULT
		}
		part := f.Data[addr&pageMask:]
		if i := bytes.IndexByte(part, 0); i >= 0 {
			return string(append(out, part[:i]...)), 0
		}
		out = append(out, part...)
		addr += uint64(len(part))
	}
	return "", unix.ENAMETOOLONG
}

// Peek copies guest memory to data for an observer. It returns how many bytes
// it could read; it fills pages on demand as a read by the guest would.
func (as *AddressSpace) Peek(addr emulate.Addr, data []byte) int {
	done := 0
	for done < len(data) {
		f, stop := as.Translate(addr.Page(), false)
		if stop != nil {
			break
		}
		n := copy(data[done:], f.Data[addr&pageMask:])
		done += n
		addr += emulate.Addr(n)
	}
	return done
}

// errShort says that a file ended before what was wanted of it.
var errShort = errors.New("linux: end of file")
