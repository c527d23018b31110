package racesim

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// What a heap block holds isn't in the debugging information: the code that
// allocates it says so. It is asked for what its size is taken of, what new makes,
// what the C++ library's allocator is for, and what the pointer points to that the
// block is assigned to; and without the source, for a pointer to something of just
// that size. Whatever it says has to fit the block.

// A content is the type of what a block holds, from an offset.
type content struct {
	t    *funcs.Type
	from int64
}

// allocation is where a block was allocated, and of what size.
type allocation struct {
	ctx  uint32
	pc   uint64
	size uint64
}

// maxContents bounds what is remembered, maxAllocators the functions around the
// call of the allocator that are asked.
const (
	maxContents   = 1 << 16
	maxAllocators = 4
)

// member names the place of l in block b, if it is known what that holds.
func (a *analysis) member(l *report.Location, b races.Block) {
	c := a.content(b)
	off := l.Offset - c.from
	if c.t == nil || off < 0 {
		return
	}
	path := ""
	if n := (int64(b.Size) - c.from) / c.t.Size; n != 1 && int64(b.Size)-c.from == n*c.t.Size {
		path = fmt.Sprintf("[%d]", off/c.t.Size)
		off %= c.t.Size
	} else if off >= c.t.Size {
		return // behind the object
	}
	if t, at := a.held(c.t, off, 0); t != nil {
		c.t, off = t, at
	}
	p, t := c.t.Path(off, l.Size)
	l.Member, l.Object, l.Type = path+p, c.t.Name, t.Name
}

// held returns what the library's object of type t, a node of a map, say, keeps at
// an offset in bytes of which only the name says what they are for, and the offset
// there; nil if there is nothing such.
func (a *analysis) held(t *funcs.Type, off int64, depth int) (*funcs.Type, int64) {
	if t.Kind != funcs.TypeStruct || depth > maxWithin {
		return nil, 0
	}
	if m := alignedBytes.FindStringSubmatch(t.Name); m != nil {
		if x := a.ms.TypeNamed(strings.TrimSpace(m[1]), 0); x != nil && off < x.Size {
			return x, off
		}
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Type != nil && f.Offset >= 0 && off >= f.Offset && off < f.Offset+f.Type.Size {
			if x, at := a.held(f.Type, off-f.Offset, depth+1); x != nil {
				return x, at
			}
		}
	}
	return nil, 0
}

// maxWithin bounds the objects within objects.
const maxWithin = 16

var alignedBytes = regexp.MustCompile(`^__aligned_(?:mem)?buf(?:fer)?<(.*)>$`)

// content returns what a block holds; the type is nil if that isn't known.
func (a *analysis) content(b races.Block) content {
	k := allocation{b.Ctx, b.PC, b.Size}
	c, known := a.contents[k]
	if !known {
		c = a.contentOf(b)
		if a.contents == nil || len(a.contents) >= maxContents {
			a.contents = map[allocation]content{}
		}
		a.contents[k] = c
	}
	return c
}

func (a *analysis) contentOf(b races.Block) (none content) {
	asked := 0
	for _, f := range a.tree.Stack(b.Ctx, emulate.Addr(b.PC)) {
		if f.Runtime {
			continue
		}
		if f.Library {
			if name := libraryMakes(f.Function); name != "" {
				if c, ok := fits(a.ms.TypeNamed(name, f.PC), b, false); ok {
					return c
				}
			}
			continue
		}
		if asked++; asked > maxAllocators {
			break
		}
		text := a.sourceText(f.File, f.Line)
		for _, t := range a.typesIn(text, f.PC) {
			if c, ok := fits(t, b, strings.Contains(text, "new")); ok {
				return c
			}
		}
		if text == "" {
			var only *funcs.Type
			for _, t := range a.ms.Pointees(f.PC) {
				if t.Size == int64(b.Size) && t.Kind == funcs.TypeStruct {
					if only != nil && only.Name != t.Name {
						return none
					}
					only = t
				}
			}
			if c, ok := fits(only, b, false); ok {
				return c
			}
		}
	}
	return none
}

// fits says whether a block may hold something of a type: one or several, or one
// with more behind it. new[] may put their number before them.
func fits(t *funcs.Type, b races.Block, counted bool) (c content, ok bool) {
	if t == nil || t.Size <= 0 || t.Kind == funcs.TypeVoid || t.Kind == funcs.TypeOther || uint64(t.Size) > b.Size {
		return c, false
	}
	const number = 8
	size := int64(b.Size)
	switch {
	case size%t.Size == 0:
		return content{t, 0}, true
	case counted && t.Kind == funcs.TypeStruct && (size-number)%t.Size == 0:
		return content{t, number}, true
	}
	return content{t, 0}, t.Kind == funcs.TypeStruct
}

var (
	// libraryAllocator finds what the C++ library's allocator allocates.
	libraryAllocator = regexp.MustCompile(`^(?:std|__gnu_cxx)::(?:__1::)?(?:__)?(?:new_)?allocator<(.*)>::allocate`)
	newOf            = regexp.MustCompile(`\bnew\s*(?:\([^()]*\)\s*)?([A-Za-z_][\w:]*(?:\s*<[^;(){}]*>)?)\s*(\**)`)
	sizeofType       = regexp.MustCompile(`\bsizeof\s*\(\s*((?:struct |union |class )?\s*[A-Za-z_][\w:]*)\s*(\**)\s*\)`)
	sizeofTarget     = regexp.MustCompile(`\bsizeof\s*\(?\s*(\*+)\s*([A-Za-z_]\w*(?:(?:->|\.)\w+)*)`)
	castOf           = regexp.MustCompile(`\(\s*((?:struct |union )?\s*[A-Za-z_]\w*)\s*(\*+)\s*\)\s*\w*alloc`)
	assignedTo       = regexp.MustCompile(`(?:^|[\s*;{(])([A-Za-z_]\w*(?:(?:->|\.)\w+)*)\s*=[^=]`)
)

// libraryMakes is the type that a function of the C++ library allocates.
func libraryMakes(function string) string {
	if m := libraryAllocator.FindStringSubmatch(function); m != nil {
		return m[1]
	}
	i := strings.LastIndex(function, "std::make_unique<")
	if i < 0 {
		return ""
	}
	arg, depth := function[i+len("std::make_unique<"):], 0
	for k, c := range arg {
		switch {
		case c == '<':
			depth++
		case depth == 0 && (c == ',' || c == '>'):
			return arg[:k]
		case c == '>':
			depth--
		}
	}
	return ""
}

// typesIn returns the types that a line which allocates may mean, the likeliest
// first.
func (a *analysis) typesIn(text string, pc emulate.Addr) (out []*funcs.Type) {
	if text == "" {
		return nil
	}
	named := func(name, stars string) {
		switch {
		case len(stars) > 0:
			out = append(out, &funcs.Type{Name: strings.TrimSpace(name) + " " + stars, Kind: funcs.TypePointer, Size: 8})
		case a.ms.VarType(pc, name) != nil:
			out = append(out, a.ms.VarType(pc, name))
		default:
			out = append(out, a.ms.TypeNamed(name, pc))
		}
	}
	for _, m := range newOf.FindAllStringSubmatch(text, 2) {
		named(m[1], m[2])
	}
	for _, m := range sizeofType.FindAllStringSubmatch(text, 2) {
		named(m[1], m[2])
	}
	for _, m := range sizeofTarget.FindAllStringSubmatch(text, 2) {
		t := a.typeOf(m[2], pc)
		for range m[1] {
			t = pointee(t)
		}
		out = append(out, t)
	}
	if m := castOf.FindStringSubmatch(text); m != nil {
		named(m[1], m[2][1:])
	}
	if m := assignedTo.FindStringSubmatch(text); m != nil {
		if t := pointee(a.typeOf(m[1], pc)); t != nil && t.Kind != funcs.TypeChar {
			out = append(out, t)
		}
	}
	return out
}

// typeOf returns the type of a variable, or of a member that is reached from it.
func (a *analysis) typeOf(path string, pc emulate.Addr) *funcs.Type {
	parts := strings.Split(strings.ReplaceAll(path, "->", "."), ".")
	t := a.ms.VarType(pc, parts[0])
	for _, p := range parts[1:] {
		if t != nil && t.Kind == funcs.TypePointer {
			t = t.Elem
		}
		if t == nil {
			return nil
		}
		var next *funcs.Type
		for i := range t.Fields {
			if t.Fields[i].Name == p {
				next = t.Fields[i].Type
			}
		}
		t = next
	}
	return t
}

func pointee(t *funcs.Type) *funcs.Type {
	if t == nil || t.Kind != funcs.TypePointer {
		return nil
	}
	return t.Elem
}
