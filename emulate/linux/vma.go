package linux

import "sort"

// A vma is one region of the guest's address space: [start, end), page
// aligned, of one kind and protection.
type vma struct {
	start, end uint64
	prot       int // PROT_*
	shared     bool
	back       *backing // file or shared object; nil for private anonymous memory
	off        uint64   // offset of start in back, bytes
	name       string   // [heap], [stack]; "" otherwise
	child      onFork
}

// onFork says what a child gets of a region.
type onFork uint8

const (
	forkCopies onFork = iota
	forkWipes         // zeroes (MADV_WIPEONFORK)
	forkSkips         // nothing (MADV_DONTFORK)
)

// path is what /proc/self/maps shows for v.
func (v *vma) path() string {
	if v.name != "" || v.back == nil {
		return v.name
	}
	return v.back.path
}

// offAt returns the offset in the backing object of address a of v.
func (v *vma) offAt(a uint64) uint64 { return v.off + (a - v.start) }

// follows reports whether w continues v, so that both can be one region.
func (v *vma) follows(w *vma) bool {
	if v.end != w.start || v.prot != w.prot || v.shared != w.shared || v.back != w.back || v.name != w.name || v.child != w.child {
		return false
	}
	return v.back == nil || v.off+(v.end-v.start) == w.off
}

// vmaList holds regions in ascending order, none overlapping.
type vmaList []*vma

// index returns the position of the first region that ends after addr.
func (l vmaList) index(addr uint64) int {
	return sort.Search(len(l), func(i int) bool { return l[i].end > addr })
}

// find returns the region that holds addr, or nil.
func (l vmaList) find(addr uint64) *vma {
	if i := l.index(addr); i < len(l) && l[i].start <= addr {
		return l[i]
	}
	return nil
}

// free reports whether no region touches [start, end).
func (l vmaList) free(start, end uint64) bool {
	i := l.index(start)
	return i == len(l) || l[i].start >= end
}

// covered reports whether every byte of [start, end) lies in some region.
func (l vmaList) covered(start, end uint64) bool {
	for i := l.index(start); start < end; i++ {
		if i == len(l) || l[i].start > start {
			return false
		}
		start = l[i].end
	}
	return true
}

// split makes addr a border between regions.
func (l *vmaList) split(addr uint64) {
	i := l.index(addr)
	if i == len(*l) || (*l)[i].start >= addr {
		return
	}
	v := (*l)[i]
	w := *v
	w.start = addr
	w.off = v.offAt(addr)
	if v.back == nil {
		w.off = 0
	}
	v.end = addr
	if w.back != nil {
		w.back.vmas++
	}
	l.insertAt(i+1, &w)
}

func (l *vmaList) insertAt(i int, v *vma) {
	*l = append(*l, nil)
	copy((*l)[i+1:], (*l)[i:])
	(*l)[i] = v
}

// insert adds v, whose range must be free, and joins it with its neighbours
// where they are alike. Regions given in hold their reference to back.
func (l *vmaList) insert(v *vma) {
	i := l.index(v.start)
	l.insertAt(i, v)
	l.join(i)
	if i > 0 {
		l.join(i - 1)
	}
}

// join merges region i+1 into region i if it continues it.
func (l *vmaList) join(i int) {
	if i+1 >= len(*l) {
		return
	}
	v, w := (*l)[i], (*l)[i+1]
	if !v.follows(w) {
		return
	}
	v.end = w.end
	if w.back != nil {
		w.back.vmas--
	}
	*l = append((*l)[:i+1], (*l)[i+2:]...)
}

// gap returns the highest address at which n bytes are free in [low, high),
// as Linux's top-down search finds it.
func (l vmaList) gap(n, low, high uint64) (uint64, bool) {
	i := l.index(high - 1)
	end := high
	if i < len(l) && l[i].start < high {
		end = l[i].start
	}
	for i--; ; i-- {
		start := low
		if i >= 0 && l[i].end > low {
			start = l[i].end
		}
		if end >= start && end-start >= n {
			return end - n, true
		}
		if i < 0 || l[i].start <= low {
			return 0, false
		}
		end = l[i].start
	}
}
