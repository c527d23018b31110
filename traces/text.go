package traces

import (
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/zeebo/xxh3"
)

// String returns the packet on one line: the count, the instructions since the
// previous packet, the kind, and the fields of the table. Byte strings of more
// than 64 bytes print as length and hash.
func (p *Packet) String() string { return string(p.AppendText(nil)) }

// AppendText appends what String returns.
func (p *Packet) AppendText(b []byte) []byte {
	if !p.Kind.valid() {
		return append(b, p.Kind.String()...)
	}
	info := &kindTable[p.Kind]
	if info.Where == InThread || p.Count != 0 {
		b = fmt.Appendf(b, "@%d instr:%d ", p.Count, p.Delta)
	}
	b = append(b, info.Name...)
	for _, f := range info.Fields {
		b = append(b, ' ')
		b = append(b, f.Name...)
		b = append(b, '=')
		b = f.appendText(b, p)
		if f.Wire == wireLine && p.Entry != 0 {
			b = fmt.Appendf(b, " tlb=%d", p.Entry)
		}
	}
	return b
}

func (f *Field) appendText(b []byte, p *Packet) []byte {
	num := func(v uint64) {
		if f.Wire == wireHex || f.Wire == wireLine || f.Wire == wirePage {
			b = fmt.Appendf(b, "%#x", v)
		} else {
			b = strconv.AppendUint(b, v, 10)
		}
	}
	switch v := f.ptr(p).(type) {
	case *uint64:
		if f.Wire == wireFixed {
			return fmt.Appendf(b, "%016x", *v)
		}
		num(*v)
	case *uint32:
		num(uint64(*v))
	case *uint8:
		num(uint64(*v))
	case *bool:
		b = strconv.AppendBool(b, *v)
	case *int64:
		b = strconv.AppendInt(b, *v, 10)
	case *int32:
		b = strconv.AppendInt(b, int64(*v), 10)
	case *[6]uint64:
		b = append(b, '[')
		for i, x := range v {
			if i > 0 {
				b = append(b, ' ')
			}
			num(x)
		}
		b = append(b, ']')
	case *[]uint64:
		b = append(b, '[')
		for i, x := range *v {
			if i > 0 {
				b = append(b, ' ')
			}
			num(x)
		}
		b = append(b, ']')
	case *[]byte:
		b = bytesText(b, *v)
	case **[LineSize]byte:
		switch {
		case *v == nil:
			b = append(b, "none"...)
		case **v == zeroLine:
			b = append(b, "zero"...)
		default:
			b = hex.AppendEncode(b, (*v)[:])
		}
	case *string:
		b = strconv.AppendQuote(b, *v)
	case *[]Object:
		b = append(b, '[')
		for i, x := range *v {
			if i > 0 {
				b = append(b, ' ')
			}
			b = fmt.Appendf(b, "%d:%#x", x.Kind, x.ID)
		}
		b = append(b, ']')
	case *[]Range:
		b = append(b, '[')
		for i, x := range *v {
			if i > 0 {
				b = append(b, ' ')
			}
			b = fmt.Appendf(b, "%#x+%d", x.Addr, x.N)
		}
		b = append(b, ']')
	case *[]LineRange:
		b = append(b, '[')
		for i, x := range *v {
			if i > 0 {
				b = append(b, ' ')
			}
			b = fmt.Appendf(b, "%#x+%d", x.First, x.N)
		}
		b = append(b, ']')
	case *[]Counter:
		b = append(b, '[')
		for i, x := range *v {
			if i > 0 {
				b = append(b, ' ')
			}
			b = fmt.Appendf(b, "%q:%d", x.Name, x.Value)
		}
		b = append(b, ']')
	default:
		panic("BUG: traces: field " + f.Name + " has a type without text form")
	}
	return b
}

func bytesText(b, v []byte) []byte {
	if len(v) > LineSize {
		return fmt.Appendf(b, "<%d bytes, hash %016x>", len(v), xxh3.Hash(v))
	}
	b = append(b, '<')
	b = hex.AppendEncode(b, v)
	return append(b, '>')
}
