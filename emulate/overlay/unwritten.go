package overlay

// What malloc hands out holds what was there before. A run keeps account of the
// bytes of blocks allocated meanwhile that nobody has written yet, and of reads
// of them by the program's own code. Whether such a read matters, only a run
// tells in which the bytes are others.

// An Unwritten is a read of bytes that nobody has written.
type Unwritten struct {
	Part  int
	Addr  uint64
	Block uint64
}

// Fill makes the bytes of blocks that are allocated meanwhile b, instead of what
// happens to be there. It must follow Checks.
func (r *Run) Fill(b byte) {
	if r.checks != nil {
		r.checks.fill = &b
	}
}

// unwritten marks a new block whose bytes mean nothing, or, if they do, one that
// isn't to be looked at.
func (p *participant) unwritten(addr, size uint64, means bool) {
	k := p.run.checks
	if k == nil || size > maxMarked {
		return
	}
	if k.unwritten == nil {
		k.unwritten = map[uint64]uint64{}
	}
	for at, end := addr, addr+size; at < end; {
		stop := min((at|63)+1, end)
		if m := byteMask(at, int(stop-at)); means {
			k.unwritten[at>>6] &^= m
		} else {
			k.unwritten[at>>6] |= m
		}
		at = stop
	}
	if k.fill != nil && !means && p.run.log == nil {
		for i := uint64(0); i < size; i++ {
			p.run.mem.Set(p.canonAddr(addr+i), *k.fill)
		}
	}
}

// filled notes that bytes were written.
func (k *checks) filled(addr uint64, size int) {
	if len(k.unwritten) != 0 {
		k.unwritten[addr>>6] &^= byteMask(addr, size)
	}
}

// readsUnwritten looks for a read of nothing but bytes that nobody wrote.
func (p *participant) readsUnwritten(addr uint64, size int) {
	k := p.run.checks
	if k == nil || len(k.unwritten) == 0 || p.firstUnwritten != nil || p.quietSP != 0 || p.alloc.sp != 0 {
		return
	}
	if m := byteMask(addr, size); k.unwritten[addr>>6]&m != m || p.ownStack(addr) || p.cpu.IsRep() {
		return
	}
	u := &Unwritten{Part: p.index(), Addr: addr}
	for b, n := range p.run.heap.sizes {
		if addr >= b && addr < b+n {
			u.Block = b
		}
	}
	p.firstUnwritten = u
}

// Unwritten returns the first read of bytes that nobody has written, of each
// participant.
func (r *Result) Unwritten() []Unwritten {
	var out []Unwritten
	for _, p := range r.parts {
		if p.firstUnwritten != nil {
			out = append(out, *p.firstUnwritten)
		}
	}
	return out
}
