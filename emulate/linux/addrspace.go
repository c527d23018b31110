package linux

import (
	"os/signal"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// The layout of the address space: that of Linux without randomisation.
const (
	taskSize   = 0x7ffffffff000 // first address that user memory can't have
	stackTop   = taskSize
	mmapTop    = 0x7ffff7fff000 // mappings grow down from here
	mmapLow    = 0x10000        // lowest address for a mapping (vm.mmap_min_addr)
	pieBase    = 0x555555554000 // load address of position-independent programs
	stackLimit = 8 << 20        // RLIMIT_STACK, bytes
)

// An AddressSpace is the guest's virtual memory: regions, the page table that
// they fill on demand, and the frames. Only the goroutine that runs the guest
// may use it.
type AddressSpace struct {
	*physical
	pt     pageTable
	vmas   vmaList
	hooks  Hooks
	blocks []*x86.BlockCache // of the processes that run in it
	id     uint64            // unique in the family
	users  int               // processes that run in it

	brkStart, brk uint64 // the heap is [brkStart, brk)
	mmapTop       uint64 // mappings grow down from here
}

// physical is what all address spaces of a family have in common.
type physical struct {
	pool        framePool
	spaces      []*AddressSpace
	files       map[backKey]*backing
	sharedFiles bool // some file was ever mapped MAP_SHARED
	lastBack    uint64
	lastSpace   uint64
	outsiders   outsiders
}

func newPhysical(cfg *Config) *physical {
	pool := framePool{limit: int(cfg.MemoryLimit >> pageShift), at: cfg.FrameAddr}
	if cfg.FirstFrame > 0 {
		pool.lastID = cfg.FirstFrame - 1
	}
	return &physical{files: make(map[backKey]*backing), pool: pool, outsiders: outsiders{inotify: -1}}
}

// room reports whether n more bytes may be asked for: whether they fit beside what
// is in use. What was asked for and isn't used yet doesn't count, as with Linux's
// default way to overcommit.
func (mem *physical) room(n uint64) bool {
	return mem.pool.limit == 0 || uint64(mem.pool.used)+n>>pageShift <= uint64(mem.pool.limit)
}

// newAddressSpace returns an empty address space with one user.
func newAddressSpace(hooks Hooks, blocks *x86.BlockCache, mem *physical) *AddressSpace {
	mem.lastSpace++
	as := &AddressSpace{hooks: hooks, blocks: []*x86.BlockCache{blocks}, physical: mem,
		id: mem.lastSpace, users: 1, mmapTop: mmapTop}
	mem.spaces = append(mem.spaces, as)
	return as
}

// borrow lets p run in as, beside whose it is.
func (as *AddressSpace) borrow(p *Process) {
	as.users++
	as.blocks = append(as.blocks, p.blocks)
	p.AS = as
}

// leave ends p's use of as; the last one takes everything down.
func (as *AddressSpace) leave(p *Process) {
	if as.users--; as.users > 0 {
		for i, b := range as.blocks {
			if b == p.blocks {
				as.blocks = append(as.blocks[:i], as.blocks[i+1:]...)
				break
			}
		}
		return
	}
	as.hooks = new(Plain) // the process is gone: nobody wants to know
	as.unmap(0, taskSize)
	for i, s := range as.spaces {
		if s == as {
			as.spaces = append(as.spaces[:i], as.spaces[i+1:]...)
			break
		}
	}
}

// invalidate drops what was decoded from page.
func (as *AddressSpace) invalidate(page uint64) {
	for _, b := range as.blocks {
		b.Invalidate(page)
	}
}

// ID returns a number that no other address space of the run ever has, from 1.
func (as *AddressSpace) ID() uint64 { return as.id }

// Aliases returns the other virtual pages (address >> 12) of the address space
// that show the same page of shared memory as page does.
func (as *AddressSpace) Aliases(page uint64) (pages []uint64) {
	v := as.vmas.find(page << pageShift)
	if v == nil || !v.shared || v.back.vmas < 2 {
		return nil
	}
	off := v.offAt(page << pageShift)
	for _, w := range as.vmas {
		if w != v && w.shared && w.back == v.back && off >= w.off && off-w.off < w.end-w.start {
			pages = append(pages, (w.start+off-w.off)>>pageShift)
		}
	}
	return pages
}

// Present says whether a page (virtual address >> 12) has a frame already.
func (as *AddressSpace) Present(page uint64) bool {
	e := as.pt.look(page)
	return e != nil && e.f != nil
}

// Translate returns the frame that virtual page (address >> 12) shows, filling
// it on demand, if the guest may read it, or write it if write is set.
// Otherwise it returns the page fault, with the page's first byte as address,
// or, out of memory, a StopYield with an error: raise either with x86.Raise.
func (as *AddressSpace) Translate(page uint64, write bool) (*Frame, *x86.Stop) {
	if e := as.pt.look(page); e != nil && e.f != nil {
		if e.prot&unix.PROT_WRITE != 0 || (!write && e.prot != unix.PROT_NONE) {
			return e.f, nil
		}
	}
	return as.fill(page, write)
}

// Error code bits of a page fault (Intel SDM volume 3, 4.7).
const (
	pfPresent = 1
	pfWrite   = 2
	pfUser    = 4
	pfFetch   = 16
)

// fill is Translate for a page that has no frame yet or forbids the access.
func (as *AddressSpace) fill(page uint64, write bool) (*Frame, *x86.Stop) {
	fault := &x86.Stop{Kind: x86.StopFault, Vector: x86.VecPF, Addr: page << pageShift, Code: pfUser}
	if write {
		fault.Code |= pfWrite
	}
	v := as.vmas.find(page << pageShift)
	if v == nil || page >= maxPage {
		return nil, fault
	}
	if v.prot == unix.PROT_NONE || (write && v.prot&unix.PROT_WRITE == 0) {
		fault.Code |= pfPresent
		return nil, fault
	}
	f, bus := as.newFrame(v, page<<pageShift)
	if bus {
		return nil, fault
	}
	if f == nil {
		return nil, &x86.Stop{Kind: x86.StopYield, Err: errMemory}
	}
	f.refs++
	e := as.pt.entry(page)
	e.f, e.prot = f, uint8(v.prot)
	return f, nil
}

// newFrame finds or makes the frame for address addr (page aligned) of v.
// A nil frame means beyond the end of the file (bus) or out of memory.
func (as *AddressSpace) newFrame(v *vma, addr uint64) (f *Frame, bus bool) {
	switch {
	case v.back == nil:
		return as.pool.get(), false
	case v.shared:
		return as.sharedFrame(v.back, v.offAt(addr))
	}
	off := v.offAt(addr)
	f = as.pool.get()
	if f == nil {
		return nil, false
	}
	n := 0
	for n < PageSize {
		k, err := unix.Pread(v.back.fd, f.Data[n:], int64(off)+int64(n))
		if err == unix.EINTR {
			continue
		}
		if err != nil || k == 0 {
			break
		}
		n += k
	}
	if n == 0 && off >= v.back.size() {
		f.refs++
		as.pool.drop(f)
		return nil, true
	}
	return f, false
}

// Code is what Memory.Code serves: the bytes from pc to the end of its page,
// nil if they can't be executed. It marks the frame as code.
func (as *AddressSpace) Code(pc uint64) []byte {
	page := pc >> pageShift
	e := as.pt.look(page)
	if e == nil || e.f == nil {
		if _, stop := as.fill(page, false); stop != nil {
			return nil
		}
		e = as.pt.look(page)
	}
	if e.prot&unix.PROT_EXEC == 0 {
		return nil
	}
	f := e.f
	if at := (codePage{as, page}); !f.Code || !slices.Contains(f.codes, at) {
		f.Code = true
		f.codes = append(f.codes, at)
		as.hooks.FrameCode(page, f)
	}
	return f.Data[pc&pageMask:]
}

// CodeWritten drops what was decoded from f, since it is about to change.
// Whoever lets a store through to a frame with Code set must call it.
func (as *AddressSpace) CodeWritten(f *Frame) {
	for _, at := range f.codes {
		at.as.invalidate(at.page)
	}
	f.codes = f.codes[:0]
	f.Code = false
}

// dropPage takes the frame from a page.
func (as *AddressSpace) dropPage(page uint64, e *pte) {
	f := e.f
	as.hooks.FrameChange(page, f)
	as.dropCode(page, f)
	e.f = nil
	as.pool.drop(f)
}

// dropCode forgets what was decoded from f at page.
func (as *AddressSpace) dropCode(page uint64, f *Frame) {
	for i, p := range f.codes {
		if p.page == page && p.as == as {
			as.invalidate(page)
			f.codes = append(f.codes[:i], f.codes[i+1:]...)
			f.Code = len(f.codes) > 0
			return
		}
	}
}

// Mappings lists the memory map in ascending order.
func (as *AddressSpace) Mappings() []Mapping {
	var l []Mapping
	for _, v := range as.vmas {
		l = append(l, v.mapping(v.start, v.end))
	}
	return l
}

// Of reports whether h are the hooks that are told of changes of as. They
// aren't for a child made by vfork, until it executes a program.
func (as *AddressSpace) Of(h Hooks) bool { return as.hooks == h }

// tell reports v, or the part of it in [start, end), as mapped.
func (as *AddressSpace) tell(v *vma, start, end uint64) { as.hooks.Map(v.mapping(start, end)) }

// mapping describes the part of v in [start, end).
func (v *vma) mapping(start, end uint64) Mapping {
	m := Mapping{
		Addr: emulate.Addr(start), N: end - start, Prot: v.prot,
		Shared: v.shared, Path: v.path(),
	}
	if v.back != nil {
		m.Offset = v.offAt(start)
		if v.shared {
			m.Alias, m.AliasOffset = v.back.id, m.Offset
			if v.back.fd < 0 {
				m.Path, m.Offset = "", 0
			}
		}
	}
	return m
}

// close gives everything back to the host. No guest can run afterwards.
func (mem *physical) close() {
	for _, b := range mem.files {
		for _, m := range b.host {
			unmapHost(m)
		}
		if b.fd >= 0 {
			unix.Close(b.fd)
		}
	}
	mem.files = nil
	if mem.outsiders.news != nil {
		signal.Stop(mem.outsiders.news)
	}
	if mem.outsiders.inotify >= 0 {
		unix.Close(mem.outsiders.inotify)
	}
	mem.pool.close()
}
