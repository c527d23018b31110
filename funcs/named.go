package funcs

import (
	"debug/dwarf"
	"strings"

	"github.com/racesim/racesim/emulate"
)

// TypeNamed returns a type of the program's by its name, qualified or not, the
// keywords struct, class, union and const before it aside; nil if there is none,
// or none whose size is known. That of the module at near goes first.
func (ms *Modules) TypeNamed(name string, near emulate.Addr) *Type {
	for cut := true; cut; {
		name, cut = cutKeyword(strings.TrimSpace(name))
	}
	if name == "" {
		return nil
	}
	first := ms.ModuleAt(near)
	if first != nil {
		if t := first.typeNamed(name); t != nil {
			return t
		}
	}
	for _, m := range ms.All() {
		if m != first && m.Kind == ModUser {
			if t := m.typeNamed(name); t != nil {
				return t
			}
		}
	}
	return nil
}

func cutKeyword(name string) (string, bool) {
	for _, k := range [...]string{"struct ", "class ", "union ", "enum ", "const ", "volatile "} {
		if rest, ok := strings.CutPrefix(name, k); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return name, false
}

func (m *Module) typeNamed(name string) *Type {
	g := m.debug()
	if g == nil {
		return nil
	}
	for _, u := range g.units {
		g.load(u)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, off := range g.typeNames[lastPart(name)] {
		if full := g.scopes[off] + g.typeName(off); full == name || strings.HasSuffix(full, "::"+name) {
			if t := g.typeAt(off); t.Size > 0 {
				return t
			}
		}
	}
	return nil
}

// lastPart is a name without the scopes before it.
func lastPart(name string) string {
	depth := 0
	for i := len(name) - 1; i > 0; i-- {
		switch name[i] {
		case '>':
			depth++
		case '<':
			depth--
		case ':':
			if depth == 0 {
				return name[i+1:]
			}
		}
	}
	return name
}

func (g *debugInfo) typeName(off dwarf.Offset) string {
	e := g.entry(off)
	if e == nil {
		return ""
	}
	s, _ := e.Val(dwarf.AttrName).(string)
	return s
}

// noteType notes a type that has a name, as TypeNamed finds it.
func (g *debugInfo) noteType(e *dwarf.Entry, scope string) {
	name, _ := e.Val(dwarf.AttrName).(string)
	if declared, _ := e.Val(dwarf.AttrDeclaration).(bool); declared || name == "" {
		return
	}
	if g.typeNames == nil {
		g.typeNames = map[string][]dwarf.Offset{}
	}
	g.typeNames[name] = append(g.typeNames[name], e.Offset)
	if scope != "" {
		g.scopes[e.Offset] = scope
	}
}

// VarType returns the type of the variable that a name means at pc: one of the
// function's, or one with static storage; nil if there is none.
func (ms *Modules) VarType(pc emulate.Addr, name string) *Type {
	var out *Type
	ms.eachLocal(pc, func(n string, t *Type) {
		if n == name {
			out = t // inner ones come later
		}
	})
	if out != nil {
		return out
	}
	for _, v := range ms.AddrOfVar(name) {
		if v.Place != nil {
			return v.Place
		}
	}
	return nil
}

// Pointees returns the types that pointers of the function at pc point to, each
// once.
func (ms *Modules) Pointees(pc emulate.Addr) (out []*Type) {
	seen := map[*Type]bool{}
	ms.eachLocal(pc, func(_ string, t *Type) {
		if t.Kind == TypePointer && t.Elem != nil && !seen[t.Elem] {
			seen[t.Elem] = true
			out = append(out, t.Elem)
		}
	})
	return out
}

// eachLocal calls f with the variables of the function at pc that are in scope
// there.
func (ms *Modules) eachLocal(pc emulate.Addr, f func(name string, t *Type)) {
	m := ms.ModuleAt(pc)
	if m == nil {
		return
	}
	g := m.debug()
	if g == nil {
		return
	}
	at := uint64(pc) - m.bias
	_, s := g.subAt(at)
	if s == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range s.locals {
		l := &s.locals[i]
		if l.block != nil && !within(l.block, at) {
			continue
		}
		e := g.entry(l.off)
		if e == nil {
			continue
		}
		name, _ := g.attr(e, dwarf.AttrName, 0).(string)
		if o, ok := g.attr(e, dwarf.AttrType, 0).(dwarf.Offset); ok && name != "" {
			f(name, g.typeAt(o))
		}
	}
}
