package funcs

import (
	"debug/dwarf"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"github.com/racesim/racesim/emulate"
)

// A Frame is one function on a call stack. Frames come innermost first.
type Frame struct {
	Function string // demangled; module+offset if it has no symbol
	File     string // as the compiler recorded it, made absolute; "" if unknown
	Line     int    // from 1; 0 if unknown
	Decl     int    // line of the function's declaration; 0 if unknown
	Module   string // the file's path
	Inlined  bool   // expanded in place in the next frame's function
	// Interrupted says that a signal handler, the frame before, runs on top of
	// it: it called nothing.
	Interrupted bool
	Runtime     bool // belongs to the C or C++ run-time
	Library     bool // the standard library's code, compiled into the program
	PC          emulate.Addr
	Offset      uint64 // of PC in the file's addresses; 0 without a module
}

// frameCache remembers the frames of addresses, up to maxFrames of them.
type frameCache struct {
	mu sync.RWMutex
	m  map[emulate.Addr][]Frame
}

const maxFrames = 1 << 20

// Frames returns the function at pc, preceded by the functions that were
// inlined there, innermost first. It is never empty. The result is shared:
// don't change it.
func (ms *Modules) Frames(pc emulate.Addr) []Frame {
	c := &ms.frames
	c.mu.RLock()
	f, ok := c.m[pc]
	c.mu.RUnlock()
	if ok {
		return f
	}
	f = ms.makeFrames(pc)
	c.mu.Lock()
	if c.m == nil || len(c.m) >= maxFrames {
		c.m = map[emulate.Addr][]Frame{}
	}
	c.m[pc] = f
	c.mu.Unlock()
	return f
}

// ReturnFrames is Frames for a return address: of the call before it.
func (ms *Modules) ReturnFrames(ret emulate.Addr) []Frame { return ms.Frames(ret - 1) }

// Line returns the source line of the innermost function at pc, or "", 0.
func (ms *Modules) Line(pc emulate.Addr) (file string, line int) {
	f := ms.Frames(pc)[0]
	return f.File, f.Line
}

func (ms *Modules) makeFrames(pc emulate.Addr) []Frame {
	m := ms.ModuleAt(pc)
	if m == nil {
		return []Frame{{Function: pc.String(), PC: pc}}
	}
	fn := ms.FuncAt(pc)
	base := Frame{Function: pc.String(), Module: m.Path, PC: pc, Offset: uint64(pc) - m.bias, Runtime: m.Kind != ModUser}
	if fn != nil {
		base.Function, base.Runtime, base.Library = fn.Name, fn.Runtime, fn.Library
	}
	g := m.debug()
	if g == nil || fn != nil && fn.PLT {
		if g == nil {
			base.File, base.Line = m.goLine(uint64(pc) - m.bias)
		}
		return []Frame{base}
	}
	a := uint64(pc) - m.bias
	u, s := g.subAt(a)
	if u == nil {
		return []Frame{base}
	}
	file, line := g.line(u, a)
	if s == nil {
		base.File, base.Line = file, line
		return []Frame{base}
	}
	// The chain of inlined functions at a, innermost last.
	var chain []int
	at := -1
	for i := range s.inlines {
		if x := &s.inlines[i]; x.parent == at && within(x.ranges, a) {
			chain = append(chain, i)
			at = i
		}
	}
	out := make([]Frame, 0, len(chain)+1)
	for i := len(chain) - 1; i >= 0; i-- {
		x := &s.inlines[chain[i]]
		name := g.display(x.name)
		out = append(out, Frame{Function: name, File: file, Line: line, Decl: x.name.line, Module: m.Path, Inlined: true, PC: pc, Offset: a, Runtime: base.Runtime, Library: isStdName(name) || m.isGo() && isGoLibrary(name)})
		file, line = g.fileName(u, x.callFile), x.callLine
	}
	if fn == nil || fn.Linkage == "" {
		base.Function = g.display(s.name)
		base.Library = isStdName(base.Function)
	}
	base.File, base.Line, base.Decl = file, line, s.name.line
	return append(out, base)
}

// A lineTable is a unit's line number program, run.
type lineTable struct {
	seqs  []lineSeq
	files []string // by number in the program
}

// A lineSeq is a run of rows with growing addresses.
type lineSeq struct {
	lo, hi uint64
	rows   []lineRow
}

type lineRow struct {
	addr uint64
	file uint32
	line int32
	stmt bool
}

// lineTab returns u's line table, made when first asked for.
func (g *debugInfo) lineTab(u *unit) *lineTable {
	u.lonce.Do(func() {
		defer func() {
			if r := recover(); r != nil {
				g.m.ms.note("%s: a line number program is malformed: %v", g.m.Path, r)
			}
		}()
		if err := g.readLines(u); err != nil {
			name, _ := u.entry.Val(dwarf.AttrName).(string)
			g.m.ms.note("%s: line numbers of %s are incomplete: %v", g.m.Path, name, err)
		}
	})
	return &u.lines
}

func (g *debugInfo) readLines(u *unit) error {
	r, err := g.d.LineReader(u.entry)
	if err != nil || r == nil {
		return err
	}
	t := &u.lines
	dir, _ := u.entry.Val(dwarf.AttrCompDir).(string)
	full := func(name string) string {
		// debug/dwarf leaves folders that are relative to the compilation's.
		if name != "" && !path.IsAbs(name) && path.IsAbs(dir) {
			return path.Join(dir, name)
		}
		return path.Clean(name)
	}
	index := map[*dwarf.LineFile]uint32{}
	for i, f := range r.Files() {
		name := ""
		if f != nil {
			name = full(f.Name)
			index[f] = uint32(i)
		}
		t.files = append(t.files, name)
	}
	var e dwarf.LineEntry
	var rows []lineRow
	for {
		if err = r.Next(&e); err != nil {
			break
		}
		if e.EndSequence {
			if len(rows) > 0 && e.Address > rows[0].addr && g.m.obj.executable(rows[0].addr) {
				t.seqs = append(t.seqs, lineSeq{rows[0].addr, e.Address, rows})
			}
			rows = nil
			continue
		}
		k, ok := index[e.File]
		if !ok && e.File != nil {
			k = uint32(len(t.files))
			index[e.File] = k
			t.files = append(t.files, full(e.File.Name))
		}
		rows = append(rows, lineRow{e.Address, k, int32(e.Line), e.IsStmt})
	}
	sort.SliceStable(t.seqs, func(i, j int) bool { return t.seqs[i].lo < t.seqs[j].lo })
	if err.Error() == "EOF" {
		return nil
	}
	return err
}

// line returns the source line of the code at a in u.
func (g *debugInfo) line(u *unit, a uint64) (string, int) {
	t := g.lineTab(u)
	i := sort.Search(len(t.seqs), func(i int) bool { return t.seqs[i].lo > a }) - 1
	if i < 0 || a >= t.seqs[i].hi {
		return "", 0
	}
	rows := t.seqs[i].rows
	j := sort.Search(len(rows), func(j int) bool { return rows[j].addr > a }) - 1
	if j < 0 || rows[j].line == 0 {
		return "", 0
	}
	return t.file(rows[j].file), int(rows[j].line)
}

func (t *lineTable) file(i uint32) string {
	if int(i) < len(t.files) {
		return t.files[i]
	}
	return ""
}

func (g *debugInfo) fileName(u *unit, n int64) string {
	if n < 0 {
		return ""
	}
	return g.lineTab(u).file(uint32(n))
}

// A PCRange is code from Lo up to Hi.
type PCRange struct{ Lo, Hi emulate.Addr }

// PCsOfLine returns the code that a source line was compiled to, sorted. file
// is a path or the end of one (bank.c, src/bank.c). Empty means that no code
// comes from that line.
func (ms *Modules) PCsOfLine(file string, line int) []PCRange {
	var out []PCRange
	for _, m := range ms.All() {
		g := m.debug()
		if g == nil {
			continue
		}
		for _, u := range g.units {
			t := g.lineTab(u)
			match := make([]bool, len(t.files))
			any := false
			for i, f := range t.files {
				match[i] = sameFile(f, file)
				any = any || match[i]
			}
			if !any {
				continue
			}
			for _, q := range t.seqs {
				for i, r := range q.rows {
					if int(r.line) != line || int(r.file) >= len(match) || !match[r.file] {
						continue
					}
					hi := q.hi
					if i+1 < len(q.rows) {
						hi = q.rows[i+1].addr
					}
					if hi > r.addr {
						out = append(out, PCRange{emulate.Addr(r.addr + m.bias), emulate.Addr(hi + m.bias)})
					}
				}
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Lo < out[j].Lo })
	merged := out[:0]
	for _, r := range out {
		if n := len(merged); n > 0 && r.Lo <= merged[n-1].Hi {
			merged[n-1].Hi = max(merged[n-1].Hi, r.Hi)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// sameFile says whether want names file: all of it, or its last elements.
func sameFile(file, want string) bool {
	want = filepath.Clean(want)
	return file == want || strings.HasSuffix(file, "/"+strings.TrimPrefix(want, "./")) && !filepath.IsAbs(want)
}

// A SourceFile is a file that a module was made from.
type SourceFile struct{ File, Module string }

// SourceFiles lists the files that the program's own modules were compiled from,
// headers too, as debugging information names them; each once.
func (ms *Modules) SourceFiles() []SourceFile {
	var out []SourceFile
	seen := map[string]bool{}
	for _, m := range ms.All() {
		if m.Kind != ModUser {
			continue
		}
		g := m.debug()
		if g == nil {
			continue
		}
		for _, u := range g.units {
			for _, f := range g.lineTab(u).files {
				if f != "" && !seen[f] {
					seen[f] = true
					out = append(out, SourceFile{f, m.Path})
				}
			}
		}
	}
	return out
}
