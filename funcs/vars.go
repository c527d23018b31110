package funcs

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"sort"
	"strings"

	"github.com/racesim/racesim/emulate"
)

// VarKind says where a variable lives.
type VarKind uint8

const (
	_ VarKind = iota
	VarGlobal
	VarTLS
	VarStack
	VarParam // a parameter in memory
)

func (k VarKind) String() string {
	switch k {
	case VarGlobal:
		return "global"
	case VarTLS:
		return "tls"
	case VarStack:
		return "stack"
	case VarParam:
		return "parameter"
	}
	return "invalid"
}

// A Variable is a variable of the program, and a place in it that was asked
// about.
type Variable struct {
	Name   string // qualified: ns::count, counter() static as counter::n
	Path   string // Name with members and indices down to the place: conf.level, ring[3].x
	Kind   VarKind
	Addr   emulate.Addr // of the variable
	Size   int64        // of the variable, bytes; 0 if unknown
	Offset int64        // of the place in the variable, bytes
	Type   string       // of the place; "" if unknown
	// Place is the type found at the place, nil if unknown.
	Place  *Type
	Module *Module
	File   string // of the declaration; "" if unknown
	Line   int
}

// A varDIE is a variable with static storage in a unit.
type varDIE struct {
	off   dwarf.Offset
	piece piece
	tls   bool
	scope string
	fn    string
}

// A localDIE is a variable or parameter of a function.
type localDIE struct {
	off   dwarf.Offset
	block [][2]uint64 // where it is in scope; nil: everywhere
	inl   int
	expr  []byte
	list  int64 // offset of its location list, or -1
}

// A varIndex holds a module's variables with static storage, sorted.
type varIndex struct {
	global, tls []varRec
}

type varRec struct {
	lo, size uint64
	off      uint64 // of lo in the variable
	name     string
	typ      *Type
	file     string
	line     int
}

// variables returns the index of m's variables from DWARF, made when first
// asked for.
func (g *debugInfo) variables() *varIndex {
	g.varsOnce.Do(func() {
		ix := &varIndex{}
		for _, u := range g.units {
			g.load(u)
			g.mu.Lock()
			for i := range u.vars {
				v := &u.vars[i]
				r, ok := g.varRec(u, v)
				if !ok {
					continue
				}
				if v.tls {
					ix.tls = append(ix.tls, r)
				} else {
					ix.global = append(ix.global, r)
				}
			}
			g.mu.Unlock()
		}
		for _, l := range [][]varRec{ix.global, ix.tls} {
			sort.SliceStable(l, func(i, j int) bool { return l[i].lo < l[j].lo })
		}
		g.vars = ix
	})
	return g.vars
}

// varRec reads what a variable is called and what it is. g.mu is held.
func (g *debugInfo) varRec(u *unit, v *varDIE) (varRec, bool) {
	e := g.entry(v.off)
	if e == nil {
		return varRec{}, false
	}
	r := varRec{lo: v.piece.addr, off: v.piece.off}
	r.name, _ = g.attr(e, dwarf.AttrName, 0).(string)
	if r.name == "" {
		return r, false
	}
	switch link, _ := g.attr(e, dwarf.AttrLinkageName, 0).(string); {
	case link != "" && strings.HasPrefix(link, "_Z"):
		r.name = Demangle(link)
	case v.fn != "":
		r.name = v.fn + "::" + r.name
	default:
		if spec, ok := e.Val(dwarf.AttrSpecification).(dwarf.Offset); ok && v.scope == "" {
			r.name = g.scopes[spec] + r.name
		} else {
			r.name = v.scope + r.name
		}
	}
	if o, ok := g.attr(e, dwarf.AttrType, 0).(dwarf.Offset); ok {
		r.typ = g.typeAt(o)
		if r.typ.Size > 0 {
			r.size = uint64(r.typ.Size)
		}
	}
	if v.piece.size > 0 {
		r.size = v.piece.size
	}
	if l, ok := g.attr(e, dwarf.AttrDeclLine, 0).(int64); ok {
		r.line = int(l)
	}
	if n, ok := g.attr(e, dwarf.AttrDeclFile, 0).(int64); ok {
		r.file = g.fileName(u, n)
	}
	return r, true
}

// VarAt returns the variable with static storage that holds address a, and
// the place in it. Thread-local variables need TLSVarAt, stack variables
// LocalAt.
func (ms *Modules) VarAt(a emulate.Addr) (Variable, bool) { return ms.VarAtSize(a, 1) }

// VarAtSize is VarAt for an access of size bytes: it picks the member of a
// union that fits, and stops above the members that don't hold all of it.
func (ms *Modules) VarAtSize(a emulate.Addr, size int) (Variable, bool) {
	m := ms.ModuleAt(a)
	if m == nil || m.obj == nil || m.obj.executable(uint64(a)-m.bias) {
		return Variable{}, false
	}
	return m.varAt(uint64(a)-m.bias, size, VarGlobal, m.bias)
}

// TLSVarAt is VarAt for the thread-local variables of the main program (the
// first module with TLS of the list) in the thread with the given FS base
// (psABI: variant II, the block ends at the thread pointer). Other modules'
// blocks aren't named.
func (ms *Modules) TLSVarAt(fsBase, a emulate.Addr) (Variable, bool) {
	for _, m := range ms.All() {
		if m.obj == nil {
			continue
		}
		for _, p := range m.obj.f.Progs {
			if p.Type != elf.PT_TLS || p.Memsz == 0 {
				continue
			}
			if m.Kind != ModUser {
				return Variable{}, false
			}
			// As the dynamic loader does: the block's start keeps the segment's
			// offset within its alignment (glibc, elf/dl-tls.c).
			align := max(p.Align, 1)
			first := -p.Vaddr & (align - 1)
			n := (p.Memsz-first+align-1)&^(align-1) + first
			start := uint64(fsBase) - n
			if uint64(a) < start || uint64(a) >= start+p.Memsz {
				return Variable{}, false
			}
			return m.varAt(uint64(a)-start, 1, VarTLS, start)
		}
	}
	return Variable{}, false
}

// varAt looks for file address (or TLS offset) a; add turns it into a run-time
// address.
func (m *Module) varAt(a uint64, size int, kind VarKind, add uint64) (Variable, bool) {
	if g := m.debug(); g != nil {
		ix := g.variables()
		l := ix.global
		if kind == VarTLS {
			l = ix.tls
		}
		i := sort.Search(len(l), func(i int) bool { return l[i].lo > a })
		for k := 0; i > 0 && k < 16; k++ {
			i--
			r := &l[i]
			if a >= r.lo+r.size && !(r.size == 0 && a == r.lo) {
				continue
			}
			v := Variable{Name: r.name, Path: r.name, Kind: kind, Addr: emulate.Addr(r.lo + add), Size: int64(r.size), Offset: int64(a - r.lo + r.off), Module: m, File: r.file, Line: r.line}
			v.Addr -= emulate.Addr(r.off)
			if r.typ != nil {
				p, t := r.typ.Path(v.Offset, size)
				v.Path, v.Type, v.Place = r.name+p, t.Name, t
			}
			return v, true
		}
	}
	s := m.symbols()
	l := s.data
	if kind == VarTLS {
		l = s.tls
	}
	i := sort.Search(len(l), func(i int) bool { return l[i].lo > a })
	for k := 0; i > 0 && k < 16; k++ {
		i--
		d := &l[i]
		if a-d.lo >= max(d.size, 1) {
			continue
		}
		for i > 0 && l[i-1].lo == d.lo && a-l[i-1].lo < max(l[i-1].size, 1) {
			i-- // the best of several names comes first
			d = &l[i]
		}
		v := Variable{Name: Demangle(d.name), Kind: kind, Addr: emulate.Addr(d.lo + add), Size: int64(d.size), Offset: int64(a - d.lo), Module: m}
		v.Path = v.Name
		if v.Offset != 0 {
			v.Path = fmt.Sprintf("%s+%d", v.Name, v.Offset)
		}
		return v, true
	}
	return Variable{}, false
}

// AddrOfVar returns the variables called name: a global, ns::global,
// function::static, or any of these without what stands before the last "::".
// Thread-local ones come with Kind VarTLS and an offset in Addr.
func (ms *Modules) AddrOfVar(name string) []Variable {
	var exact, tail []Variable
	for _, m := range ms.All() {
		if m.obj == nil {
			continue
		}
		seen := map[uint64]bool{}
		take := func(n string, lo, size uint64, tls bool, typ *Type, file string, line int) {
			ok := n == name
			if !ok && !strings.HasSuffix(n, "::"+name) || seen[lo] {
				return
			}
			seen[lo] = true
			v := Variable{Name: n, Path: n, Kind: VarGlobal, Addr: emulate.Addr(lo + m.bias), Size: int64(size), Module: m, File: file, Line: line, Place: typ}
			if tls {
				v.Kind, v.Addr = VarTLS, emulate.Addr(lo)
			}
			if typ != nil {
				v.Type = typ.Name
			}
			if ok {
				exact = append(exact, v)
			} else {
				tail = append(tail, v)
			}
		}
		if g := m.debug(); g != nil {
			ix := g.variables()
			for _, r := range ix.global {
				if r.off > 0 {
					continue // of a variable that was split up
				}
				take(r.name, r.lo, r.size, false, r.typ, r.file, r.line)
			}
			for _, r := range ix.tls {
				take(r.name, r.lo, r.size, true, r.typ, r.file, r.line)
			}
		}
		s := m.symbols()
		for _, d := range s.data {
			take(Demangle(d.name), d.lo, d.size, false, nil, "", 0)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return tail
}

// LocalAt returns the variable of the frame at pc that holds address a. cfa is
// the frame's canonical frame address: RSP at the function's entry plus 8.
// Functions inlined at pc are searched innermost first.
func (ms *Modules) LocalAt(pc, cfa, a emulate.Addr) (Variable, bool) {
	m := ms.ModuleAt(pc)
	if m == nil {
		return Variable{}, false
	}
	g := m.debug()
	if g == nil {
		return Variable{}, false
	}
	fpc := uint64(pc) - m.bias
	u, s := g.subAt(fpc)
	if s == nil {
		return Variable{}, false
	}
	var out *Variable
	for i := len(s.locals) - 1; i >= 0; i-- { // inner ones come later
		l := &s.locals[i]
		if l.block != nil && !within(l.block, fpc) {
			continue
		}
		v, ok := g.localAt(u, s, l, fpc, uint64(cfa), uint64(a))
		if !ok {
			continue
		}
		if out == nil || v.Size < out.Size {
			v.Module = m
			out = &v
		}
	}
	if out == nil {
		// Scopes at -O2 end early: a variable whose address is still known
		// elsewhere is better than no name.
		for i := range s.locals {
			l := &s.locals[i]
			if l.block == nil || l.list >= 0 {
				continue
			}
			if v, ok := g.localAt(u, s, l, fpc, uint64(cfa), uint64(a)); ok {
				v.Module = m
				return v, true
			}
		}
		return Variable{}, false
	}
	return *out, true
}

func (g *debugInfo) localAt(u *unit, s *subprogram, l *localDIE, pc, cfa, a uint64) (Variable, bool) {
	lo, ok := g.location(u, s, l, pc, cfa)
	if !ok || a < lo || a-lo > 1<<24 {
		return Variable{}, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.entry(l.off)
	if e == nil {
		return Variable{}, false
	}
	var typ *Type
	if o, ok := g.attr(e, dwarf.AttrType, 0).(dwarf.Offset); ok {
		typ = g.typeAt(o)
	}
	if typ == nil || int64(a-lo) >= typ.Size {
		return Variable{}, false
	}
	name, _ := g.attr(e, dwarf.AttrName, 0).(string)
	if name == "" {
		return Variable{}, false
	}
	v := Variable{Name: name, Kind: VarStack, Addr: emulate.Addr(lo), Size: typ.Size, Offset: int64(a - lo)}
	if e.Tag == dwarf.TagFormalParameter {
		v.Kind = VarParam
	}
	p, t := typ.Path(v.Offset, 1)
	v.Path, v.Type, v.Place = name+p, t.Name, t
	if n, ok := g.attr(e, dwarf.AttrDeclLine, 0).(int64); ok {
		v.Line = int(n)
	}
	if n, ok := g.attr(e, dwarf.AttrDeclFile, 0).(int64); ok {
		v.File = g.fileName(u, n)
	}
	return v, true
}
