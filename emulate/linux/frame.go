package linux

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/hwmodel"
)

// PageSize is the size of a page and of a Frame in bytes.
const PageSize = 4096

const (
	pageShift = 12
	pageMask  = PageSize - 1
)

// A Frame is one page of the guest's physical memory. Several virtual pages
// may show one Frame (shared mappings); a Frame lives as long as a page or a
// shared object shows it.
type Frame struct {
	Data *[PageSize]byte // off the Go heap: a slab of ours, or a host mapping of a file
	ID   uint64          // unique in the process, never used again; from 1
	Code bool            // decoded code comes from it
	HW   [PageSize / hwmodel.LineSize]hwmodel.Line
	// Outside isn't nil if processes of the host may change Data at any time. Who
	// records keeps there what it last saw of each line.
	Outside *[PageSize]byte

	refs  int32      // pages and objects that show it
	slab  bool       // Data goes back to the pool
	codes []codePage // virtual pages from which its code was decoded
}

// A codePage is a virtual page.
type codePage struct {
	as   *AddressSpace
	page uint64
}

// slabPages is how many pages the pool takes from the host at a time (4 MiB).
const slabPages = 1024

// framePool hands out frames, zeroed, up to a limit.
type framePool struct {
	free   []*[PageSize]byte // given back, content unknown
	slab   []byte            // untouched rest of the newest slab
	slabs  [][]byte
	lastID uint64
	used   int     // frames of slabs in use
	limit  int     // frames; 0: no limit
	at     uintptr // where the next host mapping should lie, 0: anywhere
}

// mapHost maps n bytes on the host, near where they should lie.
func (p *framePool) mapHost(fd int, off int64, n int, prot, flags int) ([]byte, error) {
	addr, err := unix.MmapPtr(fd, off, unsafe.Add(nil, p.at), uintptr(n), prot, flags)
	if err != nil {
		return nil, err
	}
	if p.at != 0 {
		p.at += uintptr(n)
	}
	return unsafe.Slice((*byte)(addr), n), nil
}

// unmapHost undoes it.
func unmapHost(b []byte) { unix.MunmapPtr(unsafe.Pointer(&b[0]), uintptr(len(b))) }

// get returns a frame of zeroes, or nil when the limit is reached.
func (p *framePool) get() *Frame {
	if p.limit > 0 && p.used >= p.limit {
		return nil
	}
	var data *[PageSize]byte
	if n := len(p.free); n > 0 {
		data = p.free[n-1]
		p.free = p.free[:n-1]
		*data = [PageSize]byte{}
	} else {
		if len(p.slab) == 0 {
			s, err := p.mapHost(-1, 0, slabPages*PageSize, unix.PROT_READ|unix.PROT_WRITE,
				unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
			if err != nil {
				return nil
			}
			p.slabs = append(p.slabs, s)
			p.slab = s
		}
		data = (*[PageSize]byte)(p.slab)
		p.slab = p.slab[PageSize:]
	}
	p.used++
	f := p.wrap(data)
	f.slab = true
	return f
}

// wrap makes a frame of memory that the pool doesn't own.
func (p *framePool) wrap(data *[PageSize]byte) *Frame {
	p.lastID++
	return &Frame{Data: data, ID: p.lastID}
}

// drop gives up one reference to f.
func (p *framePool) drop(f *Frame) {
	f.refs--
	if f.refs > 0 {
		return
	}
	if f.refs < 0 {
		panic(fmt.Sprintf("BUG: frame %d dropped more often than taken", f.ID))
	}
	if f.slab {
		p.free = append(p.free, f.Data)
		p.used--
	}
	f.Data = nil
}

// close gives all slabs back to the host. No frame may be used afterwards.
func (p *framePool) close() {
	for _, s := range p.slabs {
		unmapHost(s)
	}
	p.slabs, p.slab, p.free = nil, nil, nil
}
