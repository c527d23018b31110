package funcs

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"sort"
	"sync"

	"github.com/go-delve/delve/pkg/dwarf/loclist"
)

// A debugInfo is the DWARF data of one module. Addresses are the file's.
// Units are parsed when first needed, under mu; what a loaded unit holds
// doesn't change afterwards.
type debugInfo struct {
	m      *Module
	d      *dwarf.Data
	units  []*unit
	ranges []unitRange // sorted by lo

	addrs []byte // .debug_addr
	lists []byte // .debug_loclists
	loc2  []byte // .debug_loc
	loc5  *loclist.Dwarf5Reader

	mu    sync.Mutex
	names map[dwarf.Offset]dieName
	// scopes holds what encloses the functions declared inside something.
	scopes map[dwarf.Offset]string
	types  map[dwarf.Offset]*Type
	// typeNames are the types that have a name, by it, without scopes.
	typeNames map[string][]dwarf.Offset

	demangled sync.Map // linkage name -> name

	varsOnce sync.Once
	vars     *varIndex
}

// A unit is one compilation unit.
type unit struct {
	off                dwarf.Offset
	base               uint64 // DW_AT_low_pc
	addrBase, listBase uint64 // of its parts of .debug_addr and .debug_loclists
	entry              *dwarf.Entry
	v5                 bool

	once  sync.Once
	subs  []*subprogram
	byPC  []subRange // sorted by lo
	vars  []varDIE
	lines lineTable
	lonce sync.Once
}

type unitRange struct {
	lo, hi uint64
	u      *unit
}

type subRange struct {
	lo, hi uint64
	s      *subprogram
}

// A subprogram is one out-of-line function of a unit.
type subprogram struct {
	off     dwarf.Offset
	name    dieName
	ranges  [][2]uint64
	inlines []inlined // in the order of the tree, parents first
	locals  []localDIE
	frame   []byte // DW_AT_frame_base
	typ     dwarf.Offset
	params  []dwarf.Offset
	// variadic: the parameters end in "...".
	variadic bool
	file     string
	line     int
}

// An inlined is a call that was expanded in place.
type inlined struct {
	parent   int // index in subprogram.inlines, or -1
	name     dieName
	ranges   [][2]uint64
	callFile int64
	callLine int
}

// A dieName is what a function is called.
type dieName struct {
	linkage string       // "" if it has none
	name    string       // DW_AT_name
	scope   string       // what it is declared in, "a::b::"
	off     dwarf.Offset // of the declaration
	line    int          // of the declaration; 0 if unknown
}

func (n dieName) String() string {
	if n.linkage != "" {
		return Demangle(n.linkage)
	}
	if n.name == "" {
		return "(unnamed)"
	}
	return n.scope + n.name
}

// display is n.String, remembered: demangling takes longer than the rest of
// looking an address up.
func (g *debugInfo) display(n dieName) string {
	if n.linkage == "" {
		return n.String()
	}
	if s, ok := g.demangled.Load(n.linkage); ok {
		return s.(string)
	}
	s := n.String()
	g.demangled.Store(n.linkage, s)
	return s
}

func within(r [][2]uint64, a uint64) bool {
	for _, x := range r {
		if a >= x[0] && a < x[1] {
			return true
		}
	}
	return false
}

// loadDebug finds m's DWARF data, in the file or in its separate debug file.
// nil means that there is none that can be used.
func loadDebug(m *Module) (out *debugInfo) {
	defer func() {
		// debug/dwarf returns errors; this guards the unit walk below.
		if r := recover(); r != nil {
			m.ms.note("%s: debugging information is malformed: %v", m.Path, r)
			out = nil
		}
	}()
	f := m.obj.f
	path := m.Path
	if !hasInfo(f) {
		if f = m.separate(); f == nil || !hasInfo(f) {
			return nil
		}
		path = m.obj.debugPath
	}
	d, err := f.DWARF()
	if err != nil {
		m.ms.note("%s: debugging information can't be read: %v", path, err)
		return nil
	}
	g := &debugInfo{m: m, d: d, names: map[dwarf.Offset]dieName{}, scopes: map[dwarf.Offset]string{}, types: map[dwarf.Offset]*Type{}}
	if s := f.Section(".debug_loc"); s != nil {
		g.loc2, _ = s.Data()
	}
	if s := f.Section(".debug_addr"); s != nil {
		g.addrs, _ = s.Data()
	}
	if s := f.Section(".debug_loclists"); s != nil {
		if b, err := s.Data(); err == nil && len(b) > 12 {
			g.loc5, g.lists = loclist.NewDwarf5Reader(b), b
		}
	}
	if err := g.findUnits(f); err != nil {
		m.ms.note("%s: debugging information is incomplete: %v", path, err)
	}
	if len(g.units) == 0 {
		return nil
	}
	return g
}

func hasInfo(f *elf.File) bool {
	for _, n := range [...]string{".debug_info", ".zdebug_info"} {
		if s := f.Section(n); s != nil && s.Type != elf.SHT_NOBITS && s.Size > 0 {
			return true
		}
	}
	return false
}

// findUnits lists the units by their headers (DWARF 5, 7.5.1), without walking
// their trees, and the code that each covers.
func (g *debugInfo) findUnits(f *elf.File) error {
	sec := f.Section(".debug_info")
	if sec == nil {
		return fmt.Errorf("old compressed form (.zdebug_info) isn't supported")
	}
	b, err := sec.Data()
	if err != nil {
		return err
	}
	r := g.d.Reader()
	for off := uint64(0); off+12 <= uint64(len(b)); {
		n, h := uint64(le.Uint32(b[off:])), uint64(4)
		if n == 0xffffffff {
			if off+20 > uint64(len(b)) {
				break
			}
			n, h = le.Uint64(b[off+4:]), 12
		}
		if n < 8 || n > uint64(len(b))-off-h {
			return fmt.Errorf("unit at offset 0x%x of .debug_info: length %d is out of range", off, n)
		}
		word := uint64(4)
		if h == 12 {
			word = 8
		}
		version := le.Uint16(b[off+h:])
		die := off + h + 2 + word + 1
		ok := true
		if version >= 5 {
			die++
			switch b[off+h+2] {
			case 1, 3: // compile, partial
			case 4, 5: // skeleton, split
				die += 8
			default:
				ok = false // types
			}
		}
		if ok {
			r.Seek(dwarf.Offset(die))
			e, err := r.Next()
			if err != nil {
				return fmt.Errorf("unit at offset 0x%x of .debug_info: %v", off, err)
			}
			if e != nil && e.Tag == dwarf.TagCompileUnit {
				u := &unit{off: e.Offset, entry: e, v5: version >= 5}
				u.base, _ = e.Val(dwarf.AttrLowpc).(uint64)
				u.addrBase, u.listBase = sectionBase(e, dwarf.AttrAddrBase, 8), sectionBase(e, dwarf.AttrLoclistsBase, 12)
				if rs, err := g.d.Ranges(e); err == nil {
					for _, x := range rs {
						if x[1] > x[0] && g.m.obj.executable(x[0]) {
							g.ranges = append(g.ranges, unitRange{x[0], x[1], u})
						}
					}
				}
				g.units = append(g.units, u)
			}
		}
		off += h + n
	}
	sort.SliceStable(g.ranges, func(i, j int) bool { return g.ranges[i].lo < g.ranges[j].lo })
	return nil
}

// sectionBase is the offset of a unit's part of a section, by default behind
// the section's header.
func sectionBase(e *dwarf.Entry, a dwarf.Attr, without uint64) uint64 {
	if n, ok := e.Val(a).(int64); ok && n > 0 {
		return uint64(n)
	}
	return without
}

// unitAt returns the unit that compiled the code at a, or nil.
func (g *debugInfo) unitAt(a uint64) *unit {
	i := sort.Search(len(g.ranges), func(i int) bool { return g.ranges[i].lo > a })
	for k := 0; i > 0 && k < 8; k++ {
		i--
		if a < g.ranges[i].hi {
			return g.ranges[i].u
		}
	}
	return nil
}

// subAt returns the function of the source that the code at a belongs to.
func (g *debugInfo) subAt(a uint64) (*unit, *subprogram) {
	u := g.unitAt(a)
	if u == nil {
		return nil, nil
	}
	g.load(u)
	i := sort.Search(len(u.byPC), func(i int) bool { return u.byPC[i].lo > a })
	for k := 0; i > 0 && k < 8; k++ {
		i--
		if a < u.byPC[i].hi {
			return u, u.byPC[i].s
		}
	}
	return u, nil
}

// maxDepth bounds the nesting of a DIE tree.
const maxDepth = 512

// load parses u's functions and variables once.
func (g *debugInfo) load(u *unit) {
	u.once.Do(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if err := g.parse(u); err != nil {
			name, _ := u.entry.Val(dwarf.AttrName).(string)
			g.m.ms.note("%s: debugging information of %s is incomplete: %v", g.m.Path, name, err)
		}
		for _, s := range u.subs {
			s.name.scope = g.scopes[s.name.off]
			for i := range s.inlines {
				n := &s.inlines[i].name
				n.scope = g.scopes[n.off]
			}
			for _, r := range s.ranges {
				u.byPC = append(u.byPC, subRange{r[0], r[1], s})
			}
		}
		sort.SliceStable(u.byPC, func(i, j int) bool { return u.byPC[i].lo < u.byPC[j].lo })
	})
}

// A walkLevel is what surrounds a DIE.
type walkLevel struct {
	sub   *subprogram
	inl   int         // innermost inlined function, or -1
	block [][2]uint64 // ranges of the innermost lexical block; nil: all of it
	scope string      // namespaces and classes, "a::b::"
	fn    string      // enclosing function's name, for static locals
}

func (g *debugInfo) parse(u *unit) error {
	r := g.d.Reader()
	r.Seek(u.off)
	if _, err := r.Next(); err != nil {
		return err
	}
	if !u.entry.Children {
		return nil
	}
	stack := []walkLevel{{inl: -1}}
	for len(stack) > 0 {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil {
			return nil
		}
		if e.Tag == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		up := stack[len(stack)-1]
		in := g.visit(u, e, up)
		if e.Children {
			if len(stack) >= maxDepth {
				return fmt.Errorf("entries at offset 0x%x are nested more than %d deep", e.Offset, maxDepth)
			}
			stack = append(stack, in)
		}
	}
	return nil
}

// visit takes what is needed of e and returns what surrounds its children.
func (g *debugInfo) visit(u *unit, e *dwarf.Entry, up walkLevel) walkLevel {
	in := up
	switch e.Tag {
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagTypedef, dwarf.TagBaseType, dwarf.TagEnumerationType:
		g.noteType(e, up.scope)
	}
	switch e.Tag {
	case dwarf.TagNamespace, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		name, _ := e.Val(dwarf.AttrName).(string)
		if name == "" && e.Tag == dwarf.TagNamespace {
			name = "(anonymous namespace)"
		}
		if name != "" {
			in.scope += name + "::"
		}
		in.sub, in.inl = nil, -1
	case dwarf.TagSubprogram:
		in = walkLevel{inl: -1}
		n := g.name(e, 0)
		if up.scope != "" {
			g.scopes[e.Offset] = up.scope
		}
		in.fn = n.String()
		in.scope = in.fn + "::"
		rs, err := g.d.Ranges(e)
		if err != nil || len(rs) == 0 || rs[0][1] <= rs[0][0] || !g.m.obj.executable(rs[0][0]) {
			return in
		}
		s := &subprogram{off: e.Offset, name: n, ranges: rs}
		s.frame, _ = e.Val(dwarf.AttrFrameBase).([]byte)
		s.typ, _ = g.attr(e, dwarf.AttrType, 0).(dwarf.Offset)
		if l, ok := g.attr(e, dwarf.AttrDeclLine, 0).(int64); ok {
			s.line = int(l)
		}
		u.subs = append(u.subs, s)
		in.sub = s
	case dwarf.TagInlinedSubroutine:
		if up.sub == nil {
			return in
		}
		rs, _ := g.d.Ranges(e)
		x := inlined{parent: up.inl, name: g.name(e, 0), ranges: rs}
		x.callFile, _ = e.Val(dwarf.AttrCallFile).(int64)
		if l, ok := e.Val(dwarf.AttrCallLine).(int64); ok {
			x.callLine = int(l)
		}
		up.sub.inlines = append(up.sub.inlines, x)
		in.inl = len(up.sub.inlines) - 1
		in.block = rs
		in.fn = x.name.String()
	case dwarf.TagLexDwarfBlock:
		if rs, err := g.d.Ranges(e); err == nil && len(rs) > 0 {
			in.block = rs
		}
	case dwarf.TagUnspecifiedParameters:
		if up.sub != nil && up.inl < 0 {
			up.sub.variadic = true
		}
	case dwarf.TagFormalParameter, dwarf.TagVariable:
		if e.Tag == dwarf.TagFormalParameter && up.sub != nil && up.inl < 0 && up.block == nil {
			up.sub.params = append(up.sub.params, e.Offset)
		}
		g.visitVar(u, e, up)
	}
	return in
}

// visitVar files a variable as global or local.
func (g *debugInfo) visitVar(u *unit, e *dwarf.Entry, up walkLevel) {
	f := e.AttrField(dwarf.AttrLocation)
	if f == nil {
		if up.scope != "" && up.sub == nil {
			g.scopes[e.Offset] = up.scope // a declaration, defined elsewhere
		}
		return
	}
	if f.Class == dwarf.ClassExprLoc || f.Class == dwarf.ClassBlock {
		expr, _ := f.Val.([]byte)
		if ps, tls, ok := g.staticLocation(u, expr); ok {
			for _, p := range ps {
				u.vars = append(u.vars, varDIE{off: e.Offset, piece: p, tls: tls, scope: up.scope, fn: up.fn})
			}
			return
		}
		if up.sub != nil {
			up.sub.locals = append(up.sub.locals, localDIE{off: e.Offset, block: up.block, inl: up.inl, expr: expr, list: -1})
		}
		return
	}
	off, ok := f.Val.(int64)
	if i, isIndex := f.Val.(uint64); isIndex && f.Class == dwarf.ClassLocList {
		// An index into the unit's table of offsets (DWARF 5, 7.29).
		if at := u.listBase + 4*i; i < 1<<24 && at+4 <= uint64(len(g.lists)) {
			off, ok = int64(u.listBase)+int64(le.Uint32(g.lists[at:])), true
		}
	}
	if ok && up.sub != nil {
		up.sub.locals = append(up.sub.locals, localDIE{off: e.Offset, block: up.block, inl: up.inl, list: off})
	}
}

// entry reads the DIE at off.
func (g *debugInfo) entry(off dwarf.Offset) *dwarf.Entry {
	r := g.d.Reader()
	r.Seek(off)
	e, err := r.Next()
	if err != nil {
		return nil
	}
	return e
}

// maxRefs bounds chains of references between DIEs.
const maxRefs = 8

// attr returns an attribute of e or of what e is an instance of.
func (g *debugInfo) attr(e *dwarf.Entry, a dwarf.Attr, depth int) any {
	if v := e.Val(a); v != nil {
		return v
	}
	if depth > maxRefs {
		return nil
	}
	for _, ref := range [...]dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		if off, ok := e.Val(ref).(dwarf.Offset); ok {
			if o := g.entry(off); o != nil {
				return g.attr(o, a, depth+1)
			}
		}
	}
	return nil
}

// name returns what a function's DIE is called, through the DIEs that it is
// an instance of. g.mu is held.
func (g *debugInfo) name(e *dwarf.Entry, depth int) dieName {
	n := dieName{off: e.Offset}
	n.linkage, _ = e.Val(dwarf.AttrLinkageName).(string)
	n.name, _ = e.Val(dwarf.AttrName).(string)
	if l, ok := e.Val(dwarf.AttrDeclLine).(int64); ok {
		n.line = int(l)
	}
	if n.linkage != "" || depth > maxRefs {
		return n
	}
	for _, ref := range [...]dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		off, ok := e.Val(ref).(dwarf.Offset)
		if !ok {
			continue
		}
		up, known := g.names[off]
		if !known {
			if o := g.entry(off); o != nil {
				up = g.name(o, depth+1)
			}
			g.names[off] = up
		}
		if up.linkage != "" {
			n.linkage = up.linkage
		}
		if n.name == "" {
			n.name = up.name
		}
		if n.line == 0 {
			n.line = up.line
		}
		n.off = up.off
	}
	return n
}
