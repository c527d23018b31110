package linux

import (
	"golang.org/x/sys/unix"
)

// A backing is what a mapping shows: a file (private mappings copy from it,
// shared ones show it), a memfd, or anonymous shared memory. All shared
// mappings of one file have one backing, and one Frame per page, so that they
// alias as on a real machine.
type backing struct {
	fd       int // our own descriptor, -1 for anonymous shared memory
	path     string
	dev, ino uint64
	rw       bool        // fd is open for writing
	vmas     int         // regions that show it
	outside  bool        // processes of the host may change it
	segment  *shmSegment // whose memory it is, if it is System V's
	id       uint64      // Mapping.Alias

	frames map[uint64]*Frame // by page of the object; each holds one reference
	host   map[uint64][]byte // host mappings, by page number / hostChunk
}

// hostChunk is how many pages of a file are mapped on the host at a time.
const hostChunk = 256

// backKey tells files apart.
type backKey struct{ dev, ino uint64 }

// fileBacking returns the backing for the file open at host descriptor fd.
// The caller counts its region in vmas.
func (as *AddressSpace) fileBacking(fd int, path string) (*backing, unix.Errno) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err.(unix.Errno)
	}
	mode, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return nil, err.(unix.Errno)
	}
	rw := mode&unix.O_ACCMODE == unix.O_RDWR
	key := backKey{st.Dev, st.Ino}
	if b := as.files[key]; b != nil && (b.rw || !rw) {
		return b, 0
	}
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 64)
	if err != nil {
		return nil, err.(unix.Errno)
	}
	if b := as.files[key]; b != nil {
		// The first mapping was read-only: exchange the descriptor and map
		// the pages that are in use again, writable, at their place.
		unix.Close(b.fd)
		b.fd, b.rw = own, true
		for chunk, mem := range b.host {
			if err := remapShared(mem, own, int64(chunk)*hostChunk*PageSize); err != nil {
				return nil, unix.ENOMEM
			}
		}
		return b, 0
	}
	as.lastBack++
	b := &backing{fd: own, path: path, dev: st.Dev, ino: st.Ino, rw: rw, id: as.lastBack}
	as.files[key] = b
	return b, 0
}

// anonBacking returns a new backing for anonymous shared memory.
func (as *AddressSpace) anonBacking() *backing {
	as.lastBack++
	return &backing{fd: -1, path: "/dev/zero (deleted)", id: as.lastBack}
}

// release gives up one region's reference.
func (as *AddressSpace) release(b *backing) {
	b.vmas--
	if b.vmas > 0 {
		return
	}
	for _, f := range b.frames {
		as.pool.drop(f)
	}
	b.frames = nil
	for _, mem := range b.host {
		unmapHost(mem)
	}
	b.host = nil
	if b.fd >= 0 {
		as.released(b)
		delete(as.files, backKey{b.dev, b.ino})
		unix.Close(b.fd)
		b.fd = -1
	}
}

// size returns the object's size in bytes; anonymous memory is as large as
// its mappings.
func (b *backing) size() uint64 {
	if b.fd < 0 {
		return 1 << 47
	}
	var st unix.Stat_t
	if unix.Fstat(b.fd, &st) != nil {
		return 0
	}
	return uint64(st.Size)
}

// sharedFrame returns the one frame for the page of b at offset off, or nil:
// beyond the end of the file (bus is true) or out of memory.
func (as *AddressSpace) sharedFrame(b *backing, off uint64) (f *Frame, bus bool) {
	page := off >> pageShift
	if f := b.frames[page]; f != nil {
		return f, false
	}
	if b.fd < 0 {
		f = as.pool.get()
	} else {
		if off >= b.size() {
			return nil, true
		}
		f = as.hostFrame(b, page)
	}
	if f == nil {
		return nil, false
	}
	if b.frames == nil {
		b.frames = make(map[uint64]*Frame)
	}
	if b.outside {
		f.Outside = new([PageSize]byte)
	}
	f.refs++
	b.frames[page] = f
	return f, false
}

// hostFrame maps the file on the host, so that what the guest writes reaches
// the file and everybody else who maps it.
func (as *AddressSpace) hostFrame(b *backing, page uint64) *Frame {
	chunk := page / hostChunk
	mem := b.host[chunk]
	if mem == nil {
		prot := unix.PROT_READ
		if b.rw {
			prot |= unix.PROT_WRITE
		}
		var err error
		mem, err = as.pool.mapHost(b.fd, int64(chunk)*hostChunk*PageSize, hostChunk*PageSize, prot, unix.MAP_SHARED)
		if err != nil {
			return nil
		}
		if b.host == nil {
			b.host = make(map[uint64][]byte)
		}
		b.host[chunk] = mem
	}
	return as.pool.wrap((*[PageSize]byte)(mem[page%hostChunk*PageSize:]))
}

// fileChanges tells the hooks that [off, off+n) of the file open at host
// descriptor fd is about to change while the guest has it mapped shared.
func (as *AddressSpace) fileChanges(t *Thread, fd int, off int64, n int) {
	b := as.mappedFile(fd)
	if b == nil || len(b.frames) == 0 || n <= 0 {
		return
	}
	for n > 0 {
		in := int(off & pageMask)
		k := min(PageSize-in, n)
		if f := b.frames[uint64(off)>>pageShift]; f != nil {
			for _, s := range as.spaces {
				a := s.addrOf(b, uint64(off))
				switch {
				case s == as:
					s.hooks.KernelWrite(t, a, f, in, k)
				case a != 0:
					s.hooks.KernelWrite(nil, a, f, in, k)
				}
			}
			if f.Code {
				as.CodeWritten(f)
			}
		}
		off += int64(k)
		n -= k
	}
}

// fileShrinks drops what is mapped of the file open at host descriptor fd
// from byte size on, since touching it would now be an error (SIGBUS).
func (as *AddressSpace) fileShrinks(fd int, size int64) {
	b := as.mappedFile(fd)
	if b == nil || len(b.frames) == 0 {
		return
	}
	first := uint64(size+pageMask) >> pageShift
	for _, s := range as.spaces {
		for _, v := range s.vmas {
			if v.back != b || !v.shared {
				continue
			}
			s.pt.each(v.start>>pageShift, v.end>>pageShift, func(page uint64, e *pte) {
				if v.offAt(page<<pageShift)>>pageShift >= first {
					s.dropPage(page, e)
				}
			})
		}
	}
	for page, f := range b.frames {
		if page >= first {
			delete(b.frames, page)
			as.pool.drop(f)
		}
	}
}

// mappedFile returns the backing of the file open at fd, nil if nothing of it
// is mapped.
func (as *AddressSpace) mappedFile(fd int) *backing {
	if len(as.files) == 0 || !as.sharedFiles {
		return nil
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return nil
	}
	return as.files[backKey{st.Dev, st.Ino}]
}

// addrOf returns some address at which offset off of b is mapped, 0 if none.
func (as *AddressSpace) addrOf(b *backing, off uint64) (addr hookAddr) {
	for _, v := range as.vmas {
		if v.back == b && v.shared && off >= v.off && off < v.off+(v.end-v.start) {
			return hookAddr(v.start + off - v.off)
		}
	}
	return 0
}
