package detect

import (
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
)

// Functions on strings load 16 to 128 bytes at a time: what lies before the
// string in its block, and what lies behind its end, is loaded, too, and then
// ignored. It is no access: the bytes may be another variable's. Inside these
// functions loads are cut down to the part that the C standard lets them read
// (C11 7.24, POSIX.1-2017): from the argument up to the byte that ends it.

// A stringRole says what a function reads of the strings that it is given.
type stringRole struct {
	args  [2]int8 // the arguments that point to them, -1: none
	limit int8    // the argument that bounds their length in units, -1: none
	stop  int8    // the argument that ends the search when it is found, -1: none
	zero  bool    // a zero ends them
	same  bool    // the first difference ends both
	fold  bool    // …differences in case aside
	unit  uint64  // bytes of a character
}

var stringFuncs = []struct {
	role  stringRole
	names []string
}{
	{stringRole{args: [2]int8{0, -1}, limit: -1, stop: -1, zero: true, unit: 1}, []string{"strlen", "strrchr", "rindex", "strdup", "__strdup"}},
	{stringRole{args: [2]int8{0, -1}, limit: 1, stop: -1, zero: true, unit: 1}, []string{"strnlen", "strndup", "__strndup"}},
	{stringRole{args: [2]int8{0, -1}, limit: -1, stop: 1, zero: true, unit: 1}, []string{"strchr", "index", "strchrnul"}},
	{stringRole{args: [2]int8{0, -1}, limit: -1, stop: 1, unit: 1}, []string{"rawmemchr", "__rawmemchr"}},
	{stringRole{args: [2]int8{0, -1}, limit: 2, stop: 1, unit: 1}, []string{"memchr"}},
	{stringRole{args: [2]int8{0, -1}, limit: 2, stop: -1, unit: 1}, []string{"memrchr"}},
	{stringRole{args: [2]int8{0, 1}, limit: 2, stop: -1, unit: 1}, []string{"memcmp", "bcmp"}},
	{stringRole{args: [2]int8{0, 1}, limit: 2, stop: -1, unit: 4}, []string{"wmemcmp"}},
	{stringRole{args: [2]int8{1, -1}, limit: -1, stop: -1, zero: true, unit: 1}, []string{"strcpy", "stpcpy", "__strcpy_chk", "__stpcpy_chk"}},
	{stringRole{args: [2]int8{1, -1}, limit: 2, stop: -1, zero: true, unit: 1}, []string{"strncpy", "stpncpy", "__strncpy_chk", "__stpncpy_chk"}},
	{stringRole{args: [2]int8{0, 1}, limit: -1, stop: -1, zero: true, unit: 1}, []string{"strcat", "__strcat_chk", "strspn", "strcspn", "strpbrk", "strstr", "strcasestr"}},
	{stringRole{args: [2]int8{0, 1}, limit: -1, stop: -1, zero: true, same: true, unit: 1}, []string{"strcmp"}},
	{stringRole{args: [2]int8{0, 1}, limit: 2, stop: -1, zero: true, same: true, unit: 1}, []string{"strncmp"}},
	{stringRole{args: [2]int8{0, 1}, limit: -1, stop: -1, zero: true, same: true, fold: true, unit: 1}, []string{"strcasecmp"}},
	{stringRole{args: [2]int8{0, 1}, limit: 2, stop: -1, zero: true, same: true, fold: true, unit: 1}, []string{"strncasecmp"}},
	{stringRole{args: [2]int8{0, -1}, limit: -1, stop: -1, zero: true, unit: 4}, []string{"wcslen", "wcsrchr"}},
	{stringRole{args: [2]int8{0, -1}, limit: 1, stop: -1, zero: true, unit: 4}, []string{"wcsnlen"}},
	{stringRole{args: [2]int8{0, -1}, limit: -1, stop: 1, zero: true, unit: 4}, []string{"wcschr"}},
	{stringRole{args: [2]int8{0, -1}, limit: 2, stop: 1, unit: 4}, []string{"wmemchr"}},
	{stringRole{args: [2]int8{1, -1}, limit: -1, stop: -1, zero: true, unit: 4}, []string{"wcscpy"}},
	{stringRole{args: [2]int8{0, 1}, limit: -1, stop: -1, zero: true, same: true, unit: 4}, []string{"wcscmp"}},
	{stringRole{args: [2]int8{0, 1}, limit: 2, stop: -1, zero: true, same: true, unit: 4}, []string{"wcsncmp"}},
}

// stringEntries maps the entries of the functions above to what they do.
func stringEntries(ms *funcs.Modules) map[emulate.Addr]*stringRole {
	m := map[emulate.Addr]*stringRole{}
	if ms == nil {
		return m
	}
	for i := range stringFuncs {
		for _, n := range stringFuncs[i].names {
			for _, f := range ms.ExportedEver(n) {
				m[f.Entry] = &stringFuncs[i].role
			}
		}
	}
	return m
}

// A stringCall is a call of such a function under way.
type stringCall struct {
	role  *stringRole
	depth int
	stop  uint64
	n     int
	s     [2]extent
}

// An extent is a string as far as it was looked at: [start, upto) is part of
// it, and it ends at upto if ended. blind: some of it isn't known.
type extent struct {
	start, upto, limit uint64
	ended, blind       bool
}

// argument returns the n-th integer argument of a function at its entry.
func argument(c *x86.CPU, n int8) uint64 {
	return c.R[[...]int{x86.RDI, x86.RSI, x86.RDX, x86.RCX}[n]]
}

// enterString notes a call; the thread is at its first instruction.
func (f *follower) enterString(r *stringRole, depth int, c *x86.CPU) {
	s := stringCall{role: r, depth: depth}
	if r.stop >= 0 {
		s.stop = argument(c, r.stop) & (^uint64(0) >> (64 - 8*r.unit))
	}
	for _, a := range r.args {
		if a < 0 {
			continue
		}
		p := argument(c, a)
		e := extent{start: p, upto: p, limit: ^uint64(0)}
		if r.limit >= 0 {
			if n := argument(c, r.limit); n < (^uint64(0)-p)/r.unit {
				e.limit = p + n*r.unit
			}
		}
		s.s[s.n] = e
		s.n++
	}
	f.strings = append(f.strings, s)
}

// vicinity bounds what functions on strings load beside them: four vectors of 32
// bytes at a time.
const vicinity = 128

// cut returns the part of the bytes [addr, addr+size) that a function on
// strings which the thread is in may use. ok is false if there is none.
func (f *follower) cut(addr uint64, size int) (a uint64, n int, ok bool) {
	s := &f.strings[len(f.strings)-1]
	if s.depth != f.calls.Depth() {
		return addr, size, true
	}
	lo, hi := addr+uint64(size), addr
	near := false
	for i := 0; i < s.n; i++ {
		e := &s.s[i]
		if e.limit == ^uint64(0) && addr > e.upto+2*vicinity {
			continue // something else, as what the dynamic linker reads at the first call
		}
		f.extend(s, i, addr+uint64(size))
		end := min(e.upto, e.limit)
		if e.blind {
			end = e.limit
		}
		if addr+uint64(size) <= e.start&^(vicinity-1) || addr >= (end|(vicinity-1))+1+vicinity {
			continue
		}
		near = true
		if l, h := max(addr, e.start), min(addr+uint64(size), end); l < h {
			lo, hi = min(lo, l), max(hi, h)
		}
	}
	if !near {
		return addr, size, true
	}
	return lo, int(hi - lo), lo < hi
}

// extend looks at the string up to the address to, or to its end.
func (f *follower) extend(s *stringCall, i int, to uint64) {
	e := &s.s[i]
	r := s.role
	for !e.ended && !e.blind && e.upto < to {
		if e.upto >= e.limit {
			e.ended = true
			return
		}
		v, ok := f.peek(e.upto, r.unit)
		if !ok {
			e.blind = true
			return
		}
		differ := false
		if r.same {
			// The other string at the same distance.
			o := &s.s[1-i]
			w, ok := f.peek(o.start+(e.upto-e.start), r.unit)
			if !ok {
				w = v // not loaded yet: it was no use so far
			}
			differ = v != w && !(r.fold && lower(v) == lower(w))
		}
		e.upto += r.unit
		if r.zero && v == 0 || r.stop >= 0 && v == s.stop || differ {
			e.ended = true
		}
	}
}

func lower(v uint64) uint64 {
	if v >= 'A' && v <= 'Z' {
		v += 'a' - 'A'
	}
	return v
}

// peek reads memory that the thread knows.
func (f *follower) peek(a, n uint64) (v uint64, ok bool) {
	for i := uint64(0); i < n; i++ {
		l, known := f.t.Memory().KnownLine((a + i) >> lineShift)
		if known>>((a+i)%(1<<lineShift))&1 == 0 {
			return 0, false
		}
		v |= uint64(l[(a+i)%(1<<lineShift)]) << (8 * i)
	}
	return v, true
}

// An entry is a function whose calls are followed.
type entry struct {
	lock    lockRole
	str     *stringRole
	conduct conductRole
	uses    []primitiveUse
	omp     ompOp
	message messageRole
}

func (p *Pass) entryAt(a emulate.Addr) entry {
	return entry{p.locks[a], p.strings[a], p.conducts[a], p.uses[a], p.openmp.hook(a), p.messages[a]}
}

// entry says what the function at an address is, looking through stubs.
func (f *follower) entry(a emulate.Addr) entry {
	if e, ok := f.entries[a]; ok {
		return e
	}
	e := f.p.entryAt(a)
	if e.lock == 0 && e.str == nil && e.conduct == 0 && e.uses == nil && e.omp == 0 {
		ms := f.p.Tree.Modules()
		if fn := ms.Body(a); fn != nil {
			e = f.p.entryAt(fn.Entry)
		} else if fn := ms.FuncAt(a); fn != nil && fn.PLT {
			if x := ms.ExportedIn(fn.Module.Life, fn.Linkage); x != nil {
				e = f.p.entryAt(x.Entry)
			}
		}
	}
	if f.entries == nil {
		f.entries = map[emulate.Addr]entry{}
	}
	f.entries[a] = e
	return e
}
