package funcs

import (
	"debug/dwarf"
	"fmt"
	"strings"
)

// TypeKind says how the bytes of a type are to be read.
type TypeKind uint8

const (
	_ TypeKind = iota
	TypeInt
	TypeUint
	TypeFloat
	TypeBool
	TypeChar
	TypePointer
	TypeEnum
	TypeStruct // also class and union
	TypeArray
	TypeVoid
	TypeOther
)

func (k TypeKind) String() string {
	switch k {
	case TypeInt:
		return "int"
	case TypeUint:
		return "uint"
	case TypeFloat:
		return "float"
	case TypeBool:
		return "bool"
	case TypeChar:
		return "char"
	case TypePointer:
		return "pointer"
	case TypeEnum:
		return "enum"
	case TypeStruct:
		return "struct"
	case TypeArray:
		return "array"
	case TypeVoid:
		return "void"
	case TypeOther:
		return "other"
	}
	return "invalid"
}

// A Type is a type of the source language, without its typedefs and
// qualifiers except in Name.
type Type struct {
	Name   string // as written, struct and class without their keyword in C++
	Kind   TypeKind
	Size   int64   // bytes; -1 if unknown
	Fields []Field // TypeStruct, in the order of declaration
	Elem   *Type   // TypePointer, TypeArray
	Count  int64   // TypeArray: elements; -1 if unknown
	Vector bool    // TypeArray: a vector type, as __m256, which registers hold
	Union  bool
	// ByMemory: passed and returned through memory whatever its size (a C++
	// class that isn't trivially copyable).
	ByMemory bool
	Atomic   bool // _Atomic or std::atomic
	Volatile bool
}

// A Field is a member of a struct.
type Field struct {
	Name   string // "" for anonymous members and base classes
	Type   *Type
	Offset int64 // bytes
	Bit    int64 // first bit from Offset, bit-fields only
	Bits   int64 // width; 0: not a bit-field
	Base   bool  // a base class
}

// typeAt returns the type DIE at off, resolved. g.mu is held.
func (g *debugInfo) typeAt(off dwarf.Offset) *Type {
	return g.resolve(off, 0)
}

func (g *debugInfo) resolve(off dwarf.Offset, depth int) *Type {
	if t := g.types[off]; t != nil {
		return t
	}
	t := &Type{Kind: TypeOther, Size: -1, Count: -1}
	g.types[off] = t
	e := g.entry(off)
	if e == nil || depth > 64 {
		return t
	}
	t.Name, _ = e.Val(dwarf.AttrName).(string)
	if n, ok := e.Val(dwarf.AttrByteSize).(int64); ok {
		t.Size = n
	}
	elem := func() *Type {
		if o, ok := e.Val(dwarf.AttrType).(dwarf.Offset); ok {
			return g.resolve(o, depth+1)
		}
		return voidType
	}
	// like makes t what u is, under t's own name.
	like := func(u *Type, prefix string) {
		name := t.Name
		*t = *u
		if name != "" {
			t.Name = name
		} else if prefix != "" {
			t.Name = prefix + u.Name
		}
	}
	switch e.Tag {
	case dwarf.TagBaseType:
		enc, _ := e.Val(dwarf.AttrEncoding).(int64)
		t.Kind = baseKind(enc)
	case dwarf.TagTypedef:
		like(elem(), "")
	case dwarf.TagConstType:
		like(elem(), "const ")
	case dwarf.TagVolatileType:
		like(elem(), "volatile ")
		t.Volatile = true
	case dwarf.TagRestrictType:
		like(elem(), "")
	case dwarf.TagAtomicType:
		like(elem(), "_Atomic ")
		t.Atomic = true
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		t.Kind, t.Size = TypePointer, 8
		t.Elem = elem()
		mark := "*"
		if e.Tag == dwarf.TagReferenceType {
			mark = "&"
		} else if e.Tag == dwarf.TagRvalueReferenceType {
			mark = "&&"
		}
		t.Name = pointerName(t.Elem.Name, mark)
	case dwarf.TagPtrToMemberType:
		t.Kind = TypeOther
		t.Size = 8
		if o, ok := e.Val(dwarf.AttrType).(dwarf.Offset); ok {
			if ft := g.entry(o); ft != nil && ft.Tag == dwarf.TagSubroutineType {
				t.Size = 16
			}
		}
		t.Name = "pointer to member"
	case dwarf.TagEnumerationType:
		t.Kind = TypeEnum
		if t.Name == "" {
			t.Name = "enum"
		}
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		g.structType(t, e, depth)
	case dwarf.TagArrayType:
		g.arrayType(t, e, elem(), depth)
	case dwarf.TagSubroutineType:
		t.Name = "function"
	case dwarf.TagUnspecifiedType:
		if t.Name == "" {
			t.Name = "void"
		}
	}
	return t
}

var voidType = &Type{Name: "void", Kind: TypeVoid, Size: 0}

func pointerName(elem, mark string) string {
	switch {
	case elem == "":
		elem = "struct"
	case elem == "function":
		return "function *"
	}
	if strings.HasSuffix(elem, "*") || strings.HasSuffix(elem, "&") {
		return elem + mark
	}
	return elem + " " + mark
}

// baseKind translates DW_ATE_* (DWARF 5, table 7.11).
func baseKind(enc int64) TypeKind {
	switch enc {
	case 0x02:
		return TypeBool
	case 0x04:
		return TypeFloat
	case 0x05:
		return TypeInt
	case 0x06, 0x08, 0x10:
		return TypeChar
	case 0x01, 0x07:
		return TypeUint
	}
	return TypeOther
}

func (g *debugInfo) structType(t *Type, e *dwarf.Entry, depth int) {
	t.Kind = TypeStruct
	t.Union = e.Tag == dwarf.TagUnionType
	if cc, ok := e.Val(dwarf.AttrCalling).(int64); ok && cc == 4 { // DW_CC_pass_by_reference
		t.ByMemory = true
	}
	base := t.Name
	if i := strings.IndexByte(base, '<'); i > 0 {
		base = base[:i]
	}
	t.Atomic = base == "atomic" || base == "__atomic_base" || base == "__atomic_float"
	if t.Name == "" {
		t.Name = "struct"
		if t.Union {
			t.Name = "union"
		}
	}
	if sig, ok := e.Val(dwarf.AttrSpecification).(dwarf.Offset); ok {
		u := g.resolve(sig, depth+1)
		if t.Size < 0 {
			t.Size = u.Size
		}
	}
	if !e.Children {
		return
	}
	r := g.d.Reader()
	r.Seek(e.Offset)
	r.Next()
	for {
		c, err := r.Next()
		if err != nil || c == nil || c.Tag == 0 {
			return
		}
		if c.Tag == dwarf.TagMember || c.Tag == dwarf.TagInheritance {
			if _, static := c.Val(dwarf.AttrExternal).(bool); !static {
				t.Fields = append(t.Fields, g.field(c, depth))
			}
		}
		if c.Children {
			r.SkipChildren()
		}
	}
}

func (g *debugInfo) field(c *dwarf.Entry, depth int) Field {
	f := Field{Base: c.Tag == dwarf.TagInheritance}
	f.Name, _ = c.Val(dwarf.AttrName).(string)
	if o, ok := c.Val(dwarf.AttrType).(dwarf.Offset); ok {
		f.Type = g.resolve(o, depth+1)
	} else {
		f.Type = voidType
	}
	switch v := c.Val(dwarf.AttrDataMemberLoc).(type) {
	case int64:
		f.Offset = v
	case []byte:
		// DW_OP_plus_uconst; a virtual base has no constant place.
		if len(v) > 1 && v[0] == 0x23 {
			n, _ := uleb(v[1:])
			f.Offset = int64(n)
		} else {
			f.Offset = -1
		}
	}
	if n, ok := c.Val(dwarf.AttrBitSize).(int64); ok {
		f.Bits = n
		if b, ok := c.Val(dwarf.AttrDataBitOffset).(int64); ok {
			f.Offset, f.Bit = b/8, b%8
		} else if b, ok := c.Val(dwarf.AttrBitOffset).(int64); ok {
			// DWARF 2: from the most significant bit of the storage unit.
			size := f.Type.Size
			if s, ok := c.Val(dwarf.AttrByteSize).(int64); ok {
				size = s
			}
			bit := f.Offset*8 + size*8 - b - n
			f.Offset, f.Bit = bit/8, bit%8
		}
	}
	return f
}

func (g *debugInfo) arrayType(t *Type, e *dwarf.Entry, elem *Type, depth int) {
	const gnuVector dwarf.Attr = 0x2107 // DW_AT_GNU_vector
	t.Vector, _ = e.Val(gnuVector).(bool)
	var dims []int64
	if e.Children {
		r := g.d.Reader()
		r.Seek(e.Offset)
		r.Next()
		for {
			c, err := r.Next()
			if err != nil || c == nil || c.Tag == 0 {
				break
			}
			if c.Tag == dwarf.TagSubrangeType {
				n := int64(-1)
				if v, ok := c.Val(dwarf.AttrCount).(int64); ok {
					n = v
				} else if v, ok := c.Val(dwarf.AttrUpperBound).(int64); ok {
					n = v + 1
				}
				dims = append(dims, n)
			}
			if c.Children {
				r.SkipChildren()
			}
		}
	}
	if len(dims) == 0 {
		dims = []int64{-1}
	}
	suffix := ""
	for i := len(dims) - 1; i >= 0; i-- {
		n := dims[i]
		a := &Type{Kind: TypeArray, Elem: elem, Count: n, Size: -1}
		if i == 0 {
			a = t
			a.Kind, a.Elem, a.Count = TypeArray, elem, n
		}
		if n >= 0 && elem.Size >= 0 {
			a.Size = n * elem.Size
		}
		dim := "[]"
		if n >= 0 {
			dim = fmt.Sprintf("[%d]", n)
		}
		suffix = dim + suffix
		a.Name = strings.TrimSuffix(leafElem(elem).Name, suffix) + suffix
		elem = a
	}
}

func leafElem(t *Type) *Type {
	for t.Kind == TypeArray && t.Elem != nil {
		t = t.Elem
	}
	return t
}

// Path returns the access path from a variable of type t to the size bytes at
// off in it (".level", "[3].x", "" for all of it), and the type found there.
// Bit-fields that share the bytes are named together: ".a|b".
func (t *Type) Path(off int64, size int) (string, *Type) {
	var b strings.Builder
	for depth := 0; depth < 64; depth++ {
		switch t.Kind {
		case TypeArray:
			if t.Elem == nil || t.Elem.Size <= 0 || off < 0 || t.Count >= 0 && off >= t.Count*t.Elem.Size {
				return b.String(), t
			}
			if off == 0 && t.Size >= 0 && int64(size) >= t.Size && t.Count != 1 {
				return b.String(), t
			}
			fmt.Fprintf(&b, "[%d]", off/t.Elem.Size)
			off %= t.Elem.Size
			t = t.Elem
		case TypeStruct:
			f, bits := t.member(off, size)
			if f == nil || off == 0 && int64(size) >= t.Size && len(t.Fields) > 1 && !t.Union {
				return b.String(), t
			}
			if bits != "" {
				b.WriteString("." + bits)
				return b.String(), f.Type
			}
			if f.Name != "" && !f.Base {
				b.WriteString("." + f.Name)
			}
			off -= f.Offset
			t = f.Type
		default:
			return b.String(), t
		}
	}
	return b.String(), t
}

// member returns the field that holds off: of a union, the one that fits size
// best. bits joins the names of bit-fields that overlap the bytes.
func (t *Type) member(off int64, size int) (best *Field, bits string) {
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Bits > 0 {
			lo, hi := f.Offset*8+f.Bit, f.Offset*8+f.Bit+f.Bits
			if lo < (off+int64(size))*8 && hi > off*8 {
				if bits != "" {
					bits += "|"
				}
				bits += f.Name
				if best == nil {
					best = f
				}
			}
			continue
		}
		if bits != "" || f.Offset < 0 || f.Type == nil {
			continue
		}
		n := f.Type.Size
		if off < f.Offset || n >= 0 && off >= f.Offset+n {
			continue
		}
		if n <= 0 && f.Type.Kind != TypeArray {
			continue // empty base
		}
		if best == nil || fits(f, off, size) && !fits(best, off, size) {
			best = f
		}
	}
	return best, bits
}

func fits(f *Field, off int64, size int) bool {
	return f.Offset == off && f.Type.Size == int64(size) && f.Type.Kind != TypeArray
}
