package funcs

import (
	"debug/elf"
	"fmt"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-delve/delve/pkg/dwarf/frame"
)

// A funcRec is one function of a module, in the file's addresses.
type funcRec struct {
	lo, hi  uint64
	name    string // "": only .eh_frame knows it
	aliases []string
	global  bool
	plt     bool
	ifunc   bool
	origin  string // of a .symtab local: the STT_FILE before it
}

// A dataSym is a data object of the symbol tables, in the file's addresses.
type dataSym struct {
	lo, size uint64
	name     string
	tls      bool
}

// A symtab is what a module's symbol tables say, sorted by address.
type symtab struct {
	recs  []funcRec
	maxHi []uint64 // the largest hi of recs[:i+1], to find enclosing ones
	funcs []atomic.Pointer[Func]
	named bool // there are symbols, not only stubs and .eh_frame
	data  []dataSym
	tls   []dataSym

	slots map[uint64]string // names by the address of their GOT slot

	expOnce sync.Once
	exp     map[string]int
}

// find returns the index of the innermost function that holds file address a,
// or -1.
func (s *symtab) find(a uint64) int {
	i := sort.Search(len(s.recs), func(i int) bool { return s.recs[i].lo > a }) - 1
	for ; i >= 0; i-- {
		if a < s.recs[i].hi {
			return i
		}
		if s.maxHi[i] <= a {
			break
		}
	}
	return -1
}

func loadSymbols(m *Module) *symtab {
	s := &symtab{}
	if m.obj == nil {
		return s
	}
	o := m.obj
	at := map[uint64]*funcRec{}
	add := func(sym elf.Symbol, origin string) {
		typ, bind := elf.ST_TYPE(sym.Info), elf.ST_BIND(sym.Info)
		if sym.Section == elf.SHN_UNDEF || sym.Name == "" {
			return
		}
		switch typ {
		case elf.STT_OBJECT, elf.STT_TLS, elf.STT_COMMON:
			d := dataSym{lo: sym.Value, size: sym.Size, name: sym.Name, tls: typ == elf.STT_TLS}
			if d.tls {
				s.tls = append(s.tls, d)
			} else if sym.Section != elf.SHN_ABS {
				s.data = append(s.data, d)
			}
			return
		case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		case elf.STT_NOTYPE:
			// Functions written in assembler; not the compiler's labels.
			if strings.HasPrefix(sym.Name, ".") || strings.HasPrefix(sym.Name, "__") && sym.Size == 0 && bind == elf.STB_LOCAL {
				return
			}
		default:
			return
		}
		if !o.executable(sym.Value) {
			return
		}
		r := at[sym.Value]
		if r == nil {
			r = &funcRec{lo: sym.Value, name: sym.Name, origin: origin, global: bind != elf.STB_LOCAL}
			at[sym.Value] = r
		} else if r.name != sym.Name {
			global := bind != elf.STB_LOCAL
			name := sym.Name
			if betterName(name, global, r.name, r.global) {
				name, r.name = r.name, name
				r.global = r.global || global
			}
			dup := false
			for _, a := range r.aliases {
				dup = dup || a == name
			}
			if !dup {
				r.aliases = append(r.aliases, name)
			}
		}
		r.hi = max(r.hi, sym.Value+sym.Size)
		r.ifunc = r.ifunc || typ == elf.STT_GNU_IFUNC
	}
	addAll := func(syms []elf.Symbol, err error) {
		if err != nil {
			return // no such table
		}
		origin := ""
		for _, sym := range syms {
			if elf.ST_TYPE(sym.Info) == elf.STT_FILE {
				origin = sym.Name
				continue
			}
			if elf.ST_BIND(sym.Info) == elf.STB_LOCAL {
				add(sym, origin)
			} else {
				add(sym, "")
			}
		}
	}
	addAll(o.f.Symbols())
	addAll(o.f.DynamicSymbols())
	if o.f.Section(".symtab") == nil {
		if d := m.separate(); d != nil {
			addAll(d.Symbols())
		}
	}
	if len(at) == 0 {
		for _, r := range m.goRecs() {
			at[r.lo] = &r
		}
	}
	s.named = len(at) > 0
	fdes := loadFDEs(m)
	ends := map[uint64]uint64{}
	for _, r := range fdes {
		ends[r[0]] = r[1]
	}
	s.slots = gotSlots(m, at)
	for _, r := range pltStubs(m, s.slots) {
		if at[r.lo] == nil {
			at[r.lo] = &r
		}
	}
	for _, r := range at {
		s.recs = append(s.recs, *r)
	}
	sort.Slice(s.recs, func(i, j int) bool { return s.recs[i].lo < s.recs[j].lo })
	s.bound(o, ends)
	s.addUnnamed(fdes)
	s.maxHi = make([]uint64, len(s.recs))
	hi := uint64(0)
	for i := range s.recs {
		hi = max(hi, s.recs[i].hi)
		s.maxHi[i] = hi
		sort.Strings(s.recs[i].aliases)
	}
	s.funcs = make([]atomic.Pointer[Func], len(s.recs))
	for _, d := range []*[]dataSym{&s.data, &s.tls} {
		l := *d
		sort.SliceStable(l, func(i, j int) bool {
			if l[i].lo != l[j].lo {
				return l[i].lo < l[j].lo
			}
			return betterName(l[i].name, true, l[j].name, true)
		})
	}
	return s
}

// betterName says whether symbol a is the one to show for an address that b
// names too: exported before local, and what a programmer would write before
// reserved names.
func betterName(a string, aGlobal bool, b string, bGlobal bool) bool {
	ra, rb := reserved(a), reserved(b)
	if ra != rb {
		return ra < rb
	}
	if aGlobal != bGlobal {
		return aGlobal
	}
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

func reserved(s string) int {
	switch {
	case strings.HasPrefix(s, "_Z"):
		return 0
	case strings.HasPrefix(s, "__"):
		return 2
	case strings.HasPrefix(s, "_"):
		return 1
	}
	return 0
}

// bound gives functions without a size their end: the one of .eh_frame, else
// the next function, else the end of the segment.
func (s *symtab) bound(o *object, ends map[uint64]uint64) {
	for i := range s.recs {
		r := &s.recs[i]
		if r.hi > r.lo {
			continue
		}
		if e, ok := ends[r.lo]; ok {
			r.hi = e
			continue
		}
		for _, p := range o.loads {
			if r.lo >= p.Vaddr && r.lo < p.Vaddr+p.Memsz {
				r.hi = p.Vaddr + p.Memsz
			}
		}
		if i+1 < len(s.recs) {
			r.hi = min(r.hi, s.recs[i+1].lo)
		}
	}
}

// addUnnamed adds the functions that only .eh_frame knows. recs must be sorted
// and bounded.
func (s *symtab) addUnnamed(fdes [][2]uint64) {
	n := len(s.recs)
	last := uint64(0)
	var extra []funcRec
	for _, r := range fdes {
		if r[0] < last {
			continue
		}
		i := sort.Search(n, func(i int) bool { return s.recs[i].lo > r[0] }) - 1
		if i >= 0 && r[0] < s.recs[i].hi {
			continue
		}
		hi := r[1]
		if i+1 < n {
			hi = min(hi, s.recs[i+1].lo)
		}
		if hi > r[0] {
			extra = append(extra, funcRec{lo: r[0], hi: hi})
			last = hi
		}
	}
	s.recs = append(s.recs, extra...)
	sort.Slice(s.recs, func(i, j int) bool { return s.recs[i].lo < s.recs[j].lo })
}

// loadFDEs returns the ranges that .eh_frame describes, sorted.
func loadFDEs(m *Module) (out [][2]uint64) {
	for _, e := range m.ehFrame() {
		if e.End() > e.Begin() && m.obj.executable(e.Begin()) {
			out = append(out, [2]uint64{e.Begin(), e.End()})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i][0] < out[j][0] })
	return out
}

// ehFrame returns what .eh_frame says, parsed when first asked for.
func (m *Module) ehFrame() frame.FrameDescriptionEntries {
	m.fdesOnce.Do(func() {
		sec := m.obj.f.Section(".eh_frame")
		if sec == nil || sec.Type == elf.SHT_NOBITS {
			return
		}
		b, err := sec.Data()
		if err != nil {
			m.ms.note("%s: .eh_frame can't be read: %v", m.Path, err)
			return
		}
		if m.fdes, err = parseEHFrame(b, sec.Addr); err != nil {
			m.ms.note("%s: .eh_frame can't be used: %v", m.Path, err)
		}
		sort.SliceStable(m.fdes, func(i, j int) bool { return m.fdes[i].Begin() < m.fdes[j].Begin() })
	})
	return m.fdes
}

// cfaRule says how the canonical frame address is found at file address pc.
func (m *Module) cfaRule(pc uint64) (r frame.DWRule, ok bool) {
	defer func() {
		if recover() != nil { // the interpreter trusts its input
			ok = false
		}
	}()
	f, err := m.ehFrame().FDEForPC(pc)
	if err != nil {
		return r, false
	}
	c, err := f.EstablishFrame(pc)
	if err != nil {
		return r, false
	}
	return c.CFA, true
}

// parseEHFrame guards the parser, which trusts its input.
func parseEHFrame(b []byte, addr uint64) (fdes frame.FrameDescriptionEntries, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed: %v", r)
		}
	}()
	return frame.Parse(b, le, 0, 8, addr)
}
