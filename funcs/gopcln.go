package funcs

import (
	"debug/gosym"
	"path"
	"strings"
	"sync"
)

// The table that Go's run-time itself needs to print stacks (.gopclntab) is in
// stripped programs, too. It has the functions and the lines of their code; a
// function that was expanded in place gives its lines, but not its name.
// (Go 1.2 Runtime Symbol Information, golang.org/s/go12symtab.)

// A pclnTable is that table of a module.
type pclnTable struct {
	once sync.Once
	t    *gosym.Table // nil: none
}

func (m *Module) pcln() *gosym.Table {
	p := &m.pclns
	p.once.Do(func() {
		if !m.isGo() {
			return
		}
		defer func() {
			// debug/gosym trusts what it reads.
			if r := recover(); r != nil {
				m.ms.note("%s: the table of functions is malformed: %v", m.Path, r)
				p.t = nil
			}
		}()
		s := m.obj.f.Section(".gopclntab")
		if s == nil {
			s = m.obj.f.Section(".data.rel.ro.gopclntab")
		}
		text := m.obj.f.Section(".text")
		if s == nil || text == nil {
			return
		}
		b, err := s.Data()
		if err != nil {
			return
		}
		if t, err := gosym.NewTable(nil, gosym.NewLineTable(b, text.Addr)); err == nil && len(t.Funcs) > 0 {
			p.t = t
		}
	})
	return p.t
}

// goRecs returns the functions of that table.
func (m *Module) goRecs() []funcRec {
	t := m.pcln()
	if t == nil {
		return nil
	}
	out := make([]funcRec, 0, len(t.Funcs))
	for i := range t.Funcs {
		f := &t.Funcs[i]
		if f.Sym == nil || f.Entry >= f.End || !m.obj.executable(f.Entry) {
			continue
		}
		out = append(out, funcRec{lo: f.Entry, hi: f.End, name: f.Name, global: true})
	}
	return out
}

// goLine returns the source line of the code at file address a, "" and 0 if it
// isn't known.
func (m *Module) goLine(a uint64) (file string, line int) {
	t := m.pcln()
	if t == nil {
		return "", 0
	}
	defer func() {
		if recover() != nil {
			file, line = "", 0
		}
	}()
	file, line, _ = t.PCToLine(a)
	if line <= 0 {
		return "", 0
	}
	return file, line
}

// inRuntimeSource says whether the code at file address a was compiled from a
// file of the run-time.
func (m *Module) inRuntimeSource(a uint64) bool {
	file, _ := m.goLine(a)
	dir := path.Dir(file)
	return dir == "runtime" || strings.HasSuffix(dir, "/src/runtime") || strings.Contains(dir, "/src/internal/runtime/") || strings.HasPrefix(dir, "internal/runtime/")
}
