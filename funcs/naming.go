package funcs

import (
	"fmt"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// A namer finds access paths for the memory of an instance: names that the
// same location has in every instance of the function, although its address
// may differ.
type namer struct {
	r        *Recorder
	fs       emulate.Addr
	pointers []pointer // in the order in which they became known
}

// A pointer is a value that may have led to memory.
type pointer struct {
	to    uint64
	name  string
	elem  *Type // what it points to, nil if unknown
	depth int
	// addr is where it was read, for pointers in memory that has no name yet.
	addr uint64
}

// Bounds of the search for pointer paths.
const (
	maxPointers = 4096
	maxReach    = 4096 // bytes behind a pointer to something unknown
	maxPath     = 6    // pointers in one path
)

func newNamer(r *Recorder, c *x86.CPU, f *Footprint) *namer {
	n := &namer{r: r, fs: emulate.Addr(c.R[x86.RegFS])}
	for _, v := range r.inRegs {
		if v.Size != 8 || !plausible(v.Uint()) {
			continue
		}
		p := pointer{to: v.Uint(), name: v.Name}
		if v.Type != nil {
			if v.Type.Kind != TypePointer {
				continue
			}
			p.elem = v.Type.Elem
		}
		n.pointers = append(n.pointers, p)
	}
	// Pointers that were read: named when first needed.
	for _, e := range f.inputs() {
		if len(e.bytes) == 8 && len(n.pointers) < maxPointers {
			if to := le.Uint64(e.bytes); plausible(to) {
				n.pointers = append(n.pointers, pointer{to: to, addr: e.addr})
			}
		}
	}
	return n
}

// plausible says whether v may be the address of data.
func plausible(v uint64) bool { return v > 0xffff && v < 1<<47 }

func (n *namer) value(e extent) Value {
	v := Value{Addr: emulate.Addr(e.addr), Size: len(e.bytes), Bytes: e.bytes, Count: e.at.count, PC: e.at.pc, Internal: e.own}
	v.Name, v.Type = n.name(e.addr, len(e.bytes), maxPath)
	if v.Type != nil && v.Type.Size != int64(v.Size) {
		v.Type = nil
	}
	return v
}

// name returns the access path of size bytes at a, through at most depth
// pointers.
func (n *namer) name(a uint64, size, depth int) (string, *Type) {
	r := n.r
	if r.ms != nil {
		if v, ok := r.ms.VarAtSize(emulate.Addr(a), size); ok {
			return v.Path, v.Place
		}
		if n.fs != 0 && a < uint64(n.fs) && uint64(n.fs)-a < 1<<20 {
			if v, ok := r.ms.TLSVarAt(n.fs, emulate.Addr(a)); ok {
				return v.Path, v.Place
			}
		}
	}
	if r.ownStack(a) {
		return n.local(a)
	}
	if s, t, ok := n.behind(a, size, depth); ok {
		return s, t
	}
	if a >= r.entrySP+8 && a < r.entrySP+8+512 && !r.sig.Known {
		return fmt.Sprintf("stack+%d", a-r.entrySP-8), nil
	}
	for _, p := range r.sig.Params {
		at := r.entrySP + 8 + uint64(p.Stack)
		if p.Class == ClassMemory && p.Type != nil && a >= at && a < at+uint64(max(p.Type.Size, 1)) {
			path, t := p.Type.Path(int64(a-at), size)
			return p.Name + path, t
		}
	}
	if s, t, ok := n.outer(a); ok {
		return s, t
	}
	if r.Heap != nil {
		if b, ok := r.Heap(emulate.Addr(a)); ok {
			return fmt.Sprintf("heap(%s)+%d", b.Name, a-uint64(b.Base)), nil
		}
	}
	return fmt.Sprintf("mem[0x%x]", a), nil
}

// behind looks for the nearest pointer below a.
func (n *namer) behind(a uint64, size, depth int) (string, *Type, bool) {
	if depth == 0 {
		return "", nil, false
	}
	best := -1
	for i := range n.pointers {
		p := &n.pointers[i]
		if p.to > a || p.addr == a {
			continue
		}
		reach := uint64(maxReach)
		if p.elem != nil && p.elem.Size > 1 {
			reach = max(uint64(p.elem.Size), maxReach)
		}
		if a-p.to >= reach || !n.sameBlock(p.to, a) {
			continue
		}
		if best < 0 || p.to > n.pointers[best].to {
			best = i
		}
	}
	if best < 0 {
		return "", nil, false
	}
	p := &n.pointers[best]
	name, elem := p.name, p.elem
	if name == "" {
		var t *Type
		name, t = n.name(p.addr, 8, depth-1)
		if t != nil && t.Kind == TypePointer {
			elem = t.Elem
		}
		if len(name) > 3 && name[:4] == "mem[" {
			return "", nil, false
		}
	}
	off := int64(a - p.to)
	if elem == nil || elem.Size <= 0 || elem.Kind == TypeVoid {
		if off == 0 {
			return "*" + name, nil, true
		}
		return fmt.Sprintf("%s->+%d", name, off), nil, true
	}
	i := off / elem.Size
	path, t := elem.Path(off%elem.Size, size)
	switch {
	case i != 0:
		return fmt.Sprintf("%s[%d]%s", name, i, path), t, true
	case path == "":
		return "*" + name, t, true
	case path[0] == '.':
		return name + "->" + path[1:], t, true
	}
	return "(*" + name + ")" + path, t, true
}

// sameBlock says whether two addresses may belong to one object.
func (n *namer) sameBlock(a, b uint64) bool {
	if n.r.Heap == nil {
		return true
	}
	x, ok := n.r.Heap(emulate.Addr(a))
	y, ok2 := n.r.Heap(emulate.Addr(b))
	return ok == ok2 && x.Base == y.Base
}

// local names a variable of the function itself.
func (n *namer) local(a uint64) (string, *Type) {
	r := n.r
	if r.ms != nil && r.inst.Func != nil {
		pc := r.inst.Func.Entry
		for _, q := range []emulate.Addr{pc + 4, pc + 16, pc + (r.inst.Func.End-pc)/2} {
			if v, ok := r.ms.LocalAt(q, r.inst.CFA, emulate.Addr(a)); ok {
				return v.Path, v.Place
			}
		}
	}
	return fmt.Sprintf("frame-%d", r.entrySP+8-a), nil
}

// outer names a variable in the frame of a caller.
func (n *namer) outer(a uint64) (string, *Type, bool) {
	r := n.r
	level, ok := r.calls.LevelOf(emulate.Addr(a))
	if !ok || r.ms == nil {
		return "", nil, false
	}
	act := r.calls.Level(level)
	pc := r.site
	if level > 0 {
		pc = r.calls.Level(level - 1).Site
	} else if r.calls.Depth() >= r.depth {
		return "", nil, false // the function's own frame
	}
	f := r.ms.FuncAt(pc)
	if v, ok := r.ms.LocalAt(pc, act.CFA(), emulate.Addr(a)); ok {
		if f != nil {
			return f.Name + "::" + v.Path, v.Place, true
		}
		return v.Path, v.Place, true
	}
	if f != nil {
		return fmt.Sprintf("%s::frame-%d", f.Name, uint64(act.CFA())-a), nil, true
	}
	return "", nil, false
}
