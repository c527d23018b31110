package linux

import (
	"golang.org/x/sys/unix"

	"github.com/racesim/racesim/emulate"
)

// up rounds n up to whole pages.
func up(n uint64) uint64 { return (n + pageMask) &^ pageMask }

// place maps v (range and attributes set, reference to back not yet counted),
// over whatever was there.
func (as *AddressSpace) place(v *vma) {
	as.unmap(v.start, v.end)
	if v.back != nil {
		v.back.vmas++
		if v.shared && v.back.fd >= 0 {
			as.sharedFiles = true
			as.mapped(v.back)
		}
	}
	start, end := v.start, v.end
	as.vmas.insert(v)
	as.tell(as.vmas.find(start), start, end)
}

// pick chooses the address for a mapping of n bytes: hint if it is free.
func (as *AddressSpace) pick(hint, n uint64) (uint64, unix.Errno) {
	if n == 0 || n > taskSize {
		return 0, unix.ENOMEM
	}
	if hint &^= pageMask; hint >= mmapLow && hint+n <= taskSize && as.vmas.free(hint, hint+n) {
		return hint, 0
	}
	if a, ok := as.vmas.gap(n, mmapLow, as.mmapTop); ok {
		return a, 0
	}
	return 0, unix.ENOMEM
}

// few is the number of bytes up to which a range with holes is unmapped at
// once, so that nobody is told of vast ranges that held little.
const few = 1 << 32

// unmap removes [start, end), page aligned.
func (as *AddressSpace) unmap(start, end uint64) {
	if as.vmas.free(start, end) {
		return
	}
	if end-start > few && !as.vmas.covered(start, end) {
		for i := as.vmas.index(start); i < len(as.vmas) && as.vmas[i].start < end; i = as.vmas.index(start) {
			as.unmap(max(start, as.vmas[i].start), min(end, as.vmas[i].end))
		}
		return
	}
	as.vmas.split(start)
	as.vmas.split(end)
	as.pt.each(start>>pageShift, end>>pageShift, as.dropPage)
	i := as.vmas.index(start)
	j := i
	for j < len(as.vmas) && as.vmas[j].start < end {
		if b := as.vmas[j].back; b != nil {
			as.release(b)
		}
		j++
	}
	as.vmas = append(as.vmas[:i], as.vmas[j:]...)
	as.hooks.Unmap(emulate.Addr(start), end-start)
}

// protect sets the protection of [start, end); ENOMEM if it isn't wholly mapped.
func (as *AddressSpace) protect(start, end uint64, prot int) unix.Errno {
	if !as.vmas.covered(start, end) {
		// What comes before the first hole is protected all the same.
		hole := start
		for v := as.vmas.find(hole); v != nil; v = as.vmas.find(hole) {
			hole = v.end
		}
		if hole > start {
			as.protect(start, hole, prot)
		}
		return unix.ENOMEM
	}
	for i := as.vmas.index(start); i < len(as.vmas) && as.vmas[i].start < end; i++ {
		v := as.vmas[i]
		if v.shared && prot&unix.PROT_WRITE != 0 && v.back.fd >= 0 && !v.back.rw {
			return unix.EACCES
		}
	}
	as.vmas.split(start)
	as.vmas.split(end)
	first := as.vmas.index(start)
	last := first
	for i := first; i < len(as.vmas) && as.vmas[i].start < end; i++ {
		as.vmas[i].prot = prot
		last = i
	}
	for i := last; i >= first-1 && i >= 0; i-- {
		as.vmas.join(i)
	}
	as.pt.each(start>>pageShift, end>>pageShift, func(page uint64, e *pte) {
		if prot&unix.PROT_EXEC == 0 && e.f.Code {
			as.dropCode(page, e.f)
		}
		e.prot = uint8(prot)
	})
	as.hooks.Protect(emulate.Addr(start), end-start, prot)
	return 0
}

// forks says what a child gets of [start, end).
func (as *AddressSpace) forks(start, end uint64, what onFork) unix.Errno {
	if !as.vmas.covered(start, end) {
		return unix.ENOMEM
	}
	as.vmas.split(start)
	as.vmas.split(end)
	for i := as.vmas.index(start); i < len(as.vmas) && as.vmas[i].start < end; i++ {
		if v := as.vmas[i]; what == forkWipes && (v.shared || v.back != nil) {
			return unix.EINVAL
		}
		as.vmas[i].child = what
	}
	return 0
}

// discard forgets the content of private memory in [start, end): the next
// touch finds zeroes, or the file again (madvise MADV_DONTNEED).
func (as *AddressSpace) discard(start, end uint64) {
	for i := as.vmas.index(start); i < len(as.vmas) && as.vmas[i].start < end; i++ {
		v := as.vmas[i]
		if v.shared {
			continue // the object keeps the content; the same frames come back
		}
		from, to := max(start, v.start), min(end, v.end)
		as.pt.each(from>>pageShift, to>>pageShift, as.dropPage)
	}
}

// move gives the pages of [old, old+n) to [to, to+n), whose range is free, and
// grows the region there to size bytes.
func (as *AddressSpace) move(old, n, to, size uint64) {
	as.vmas.split(old)
	as.vmas.split(old + n)
	v := *as.vmas.find(old)
	v.start, v.end = to, to+size
	if v.back != nil {
		v.back.vmas++
	}
	as.pt.each(old>>pageShift, (old+n)>>pageShift, func(page uint64, e *pte) {
		f, prot := e.f, e.prot
		as.hooks.FrameChange(page, f)
		as.dropCode(page, f)
		e.f = nil
		ne := as.pt.entry(page - old>>pageShift + to>>pageShift)
		ne.f, ne.prot = f, prot
	})
	as.unmap(old, old+n)
	as.vmas.insert(&v)
	as.tell(as.vmas.find(to), to, to+size)
}

// remap is mremap(2).
func (as *AddressSpace) remap(old, oldN, newN uint64, flags int, fixed uint64) (uint64, unix.Errno) {
	if old&pageMask != 0 || flags&^(unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED) != 0 ||
		(flags&unix.MREMAP_FIXED != 0 && (flags&unix.MREMAP_MAYMOVE == 0 || fixed&pageMask != 0)) {
		return 0, unix.EINVAL
	}
	if oldN > taskSize || newN > taskSize {
		return 0, unix.ENOMEM
	}
	oldN, newN = up(oldN), up(newN)
	if newN == 0 || oldN == 0 {
		return 0, unix.EINVAL
	}
	v := as.vmas.find(old)
	if v == nil || old+oldN > v.end {
		return 0, unix.EFAULT
	}
	if flags&unix.MREMAP_FIXED != 0 {
		if fixed < mmapLow || fixed+newN > taskSize || (fixed < old+oldN && old < fixed+newN) {
			return 0, unix.EINVAL
		}
		as.unmap(fixed, fixed+newN)
		if newN < oldN {
			as.unmap(old+newN, old+oldN)
			oldN = newN
		}
		as.move(old, oldN, fixed, newN)
		return fixed, 0
	}
	if newN <= oldN {
		if newN < oldN {
			as.unmap(old+newN, old+oldN)
		}
		return old, 0
	}
	if v.prot&unix.PROT_WRITE != 0 && !as.room(newN-oldN) {
		return 0, unix.ENOMEM
	}
	if old+oldN == v.end && old+newN <= taskSize && as.vmas.free(v.end, old+newN) {
		more := *v
		more.start, more.end = v.end, old+newN
		if v.back != nil {
			more.off = v.offAt(v.end)
		}
		as.place(&more)
		return old, 0
	}
	if flags&unix.MREMAP_MAYMOVE == 0 {
		return 0, unix.ENOMEM
	}
	to, errno := as.pick(0, newN)
	if errno != 0 {
		return 0, errno
	}
	as.move(old, oldN, to, newN)
	return to, 0
}

// setBrk is brk(2): it returns the end of the heap, changed if possible.
func (as *AddressSpace) setBrk(to uint64) uint64 {
	if to < as.brkStart {
		return as.brk
	}
	oldEnd, newEnd := up(as.brk), up(to)
	switch {
	case newEnd > oldEnd:
		if newEnd > as.mmapTop || !as.room(newEnd-oldEnd) || !as.vmas.free(oldEnd, newEnd+PageSize) {
			return as.brk
		}
		as.place(&vma{start: oldEnd, end: newEnd, prot: unix.PROT_READ | unix.PROT_WRITE, name: "[heap]"})
	case newEnd < oldEnd:
		as.unmap(newEnd, oldEnd)
	}
	as.brk = to
	return to
}
