package traces

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// coder is the state of delta coding, the same in writing and reading. It
// starts anew in each chunk: count and min from the chunk's header, line at 0.
type coder struct {
	count uint64
	min   uint64
	line  uint64
	tlb   tlbCoder
}

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// counts says whether a stream is of a thread, which executes instructions.
func counts(stream uint32) bool { return stream != 0 && stream != FilesStream }

// Encoding: a packet is its kind (one byte), then, in threads' streams, its
// delta (uvarint), then its fields in the order of the table.

// appendPacket appends p's wire form to b. p.Delta is set already.
func (c *coder) appendPacket(b []byte, stream uint32, p *Packet) ([]byte, error) {
	if p.Kind == Import {
		if p.Data == nil {
			return b, errors.New("import without data")
		}
		return c.appendImport(b, p.Delta, p.Line, p.Data, p.Entry), nil
	}
	if n := bits.OnesCount64(p.Mask); p.Kind == Part && n != len(p.Bytes) {
		return b, fmt.Errorf("%d bytes, its mask has %d", len(p.Bytes), n)
	}
	b = append(b, byte(p.Kind))
	if counts(stream) {
		b = binary.AppendUvarint(b, p.Delta)
	}
	for _, f := range kindTable[p.Kind].Fields {
		var err error
		if b, err = c.appendField(b, f, p); err != nil {
			return b, err
		}
	}
	return b, nil
}

// appendImport appends an import in its shortest form.
func (c *coder) appendImport(b []byte, delta, line uint64, d *[LineSize]byte, entry uint64) []byte {
	var mask uint64
	for i := 0; i < 8; i++ {
		w := binary.LittleEndian.Uint64(d[i*8:])
		if w != 0 {
			mask |= nonzeroBytes(w) << (8 * i)
		}
	}
	n := bits.OnesCount64(mask)
	kind := Import
	switch {
	case n == 0:
		kind = importZero
	case n <= LineSize/2:
		kind = importMask
	}
	b = append(b, byte(kind))
	b = binary.AppendUvarint(b, delta)
	b = c.appendLine(b, line, entry)
	switch kind {
	case Import:
		b = append(b, d[:]...)
	case importMask:
		b = binary.LittleEndian.AppendUint64(b, mask)
		for m := mask; m != 0; m &= m - 1 {
			b = append(b, d[bits.TrailingZeros64(m)])
		}
	}
	return b
}

// nonzeroBytes returns a bit for each byte of w that isn't 0, lowest first.
func nonzeroBytes(w uint64) uint64 {
	const low7 = 0x7f7f7f7f7f7f7f7f
	high := ((w & low7) + low7 | w) &^ low7 // bit 7 of each byte that isn't 0
	return (high >> 7) * 0x0102040810204080 >> 56
}

func (c *coder) appendField(b []byte, f *Field, p *Packet) ([]byte, error) {
	switch f.Wire {
	case wireMin:
		b = binary.AppendUvarint(b, zigzag(int64(p.Min-c.min)))
		c.min = p.Min
		return b, nil
	case wireSince:
		return binary.AppendUvarint(b, zigzag(int64(c.min-p.Since))), nil
	case wireFixed:
		return binary.LittleEndian.AppendUint64(b, *f.ptr(p).(*uint64)), nil
	case wireLine:
		return c.appendLine(b, p.Line, p.Entry), nil
	case wirePage:
		return c.appendEntry(b, p)
	}
	items := func(n int) error {
		if n > MaxItems {
			return fmt.Errorf("%s: %d items, maximum %d", f.Name, n, MaxItems)
		}
		b = binary.AppendUvarint(b, uint64(n))
		return nil
	}
	str := func(n, max int) error {
		if n > max {
			return fmt.Errorf("%s: %d bytes, maximum %d", f.Name, n, max)
		}
		b = binary.AppendUvarint(b, uint64(n))
		return nil
	}
	switch v := f.ptr(p).(type) {
	case *uint64:
		b = binary.AppendUvarint(b, *v)
	case *uint32:
		b = binary.AppendUvarint(b, uint64(*v))
	case *uint8:
		b = append(b, *v)
	case *bool:
		if *v {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	case *int64:
		b = binary.AppendUvarint(b, zigzag(*v))
	case *int32:
		b = binary.AppendUvarint(b, zigzag(int64(*v)))
	case *[6]uint64:
		for _, x := range v {
			b = binary.AppendUvarint(b, x)
		}
	case *[]byte:
		if err := str(len(*v), MaxBytes); err != nil {
			return b, err
		}
		b = append(b, *v...)
	case *string:
		if err := str(len(*v), MaxString); err != nil {
			return b, err
		}
		b = append(b, *v...)
	case *[]uint64:
		if err := items(len(*v)); err != nil {
			return b, err
		}
		for _, x := range *v {
			b = binary.AppendUvarint(b, x)
		}
	case *[]Object:
		if err := items(len(*v)); err != nil {
			return b, err
		}
		for _, x := range *v {
			b = append(b, x.Kind)
			b = binary.AppendUvarint(b, x.ID)
		}
	case *[]Range:
		if err := items(len(*v)); err != nil {
			return b, err
		}
		prev := uint64(0)
		for _, x := range *v {
			b = binary.AppendUvarint(b, zigzag(int64(x.Addr-prev)))
			b = binary.AppendUvarint(b, x.N)
			prev = x.Addr
		}
	case *[]LineRange:
		if err := items(len(*v)); err != nil {
			return b, err
		}
		prev := uint64(0)
		for _, x := range *v {
			b = binary.AppendUvarint(b, zigzag(int64(x.First-prev)))
			b = binary.AppendUvarint(b, x.N)
			prev = x.First
		}
	case *[]Counter:
		if err := items(len(*v)); err != nil {
			return b, err
		}
		for _, x := range *v {
			if err := str(len(x.Name), MaxString); err != nil {
				return b, err
			}
			b = append(b, x.Name...)
			b = binary.AppendUvarint(b, x.Value)
		}
	default:
		panic("BUG: traces: field " + f.Name + " has a type without encoding")
	}
	return b, nil
}

// decoder reads packets from one chunk's raw bytes.
type decoder struct {
	coder
	b     []byte
	off   int
	chunk uint32 // stream of the chunk
	buf   [LineSize]byte
}

var zeroLine [LineSize]byte

// errShort says that the chunk ends inside a packet.
var errShort = errors.New("chunk ends inside a packet")

func (d *decoder) uvarint() (uint64, error) {
	if d.off < len(d.b) {
		if x := d.b[d.off]; x < 0x80 {
			d.off++
			return uint64(x), nil
		}
	}
	v, n := binary.Uvarint(d.b[d.off:])
	if n <= 0 {
		if n == 0 {
			return 0, errShort
		}
		return 0, errors.New("number of more than 64 bits")
	}
	d.off += n
	return v, nil
}

func (d *decoder) byte() (byte, error) {
	if d.off >= len(d.b) {
		return 0, errShort
	}
	d.off++
	return d.b[d.off-1], nil
}

func (d *decoder) bytes(n int) ([]byte, error) {
	if n > len(d.b)-d.off {
		return nil, errShort
	}
	d.off += n
	return d.b[d.off-n : d.off : d.off], nil
}

// length reads a length and checks it against a maximum and, each item taking
// at least min bytes, against what is left of the chunk.
func (d *decoder) length(f *Field, max, min int) (int, error) {
	n, err := d.uvarint()
	if err != nil {
		return 0, err
	}
	if n > uint64(max) {
		return 0, fmt.Errorf("%s: length %d, maximum %d", f.Name, n, max)
	}
	if n*uint64(min) > uint64(len(d.b)-d.off) {
		return 0, errShort
	}
	return int(n), nil
}

// next decodes one packet into p.
func (d *decoder) next(p *Packet) error {
	tag, err := d.byte()
	if err != nil {
		return err
	}
	k := Kind(tag)
	if !k.valid() {
		return fmt.Errorf("packet kind %d, expected one of the table", tag)
	}
	info := &kindTable[k]
	if !info.Where.allows(d.chunk) {
		return fmt.Errorf("%s packet in stream %d", info.Name, d.chunk)
	}
	p.Kind = k
	p.Delta = 0
	if counts(d.chunk) {
		if p.Delta, err = d.uvarint(); err != nil {
			return err
		}
		if d.count+p.Delta < d.count {
			return fmt.Errorf("delta %d overflows the count %d", p.Delta, d.count)
		}
		d.count += p.Delta
	}
	p.Count = d.count
	switch k {
	case Import, importZero, importMask:
		return d.nextImport(p)
	}
	for _, f := range info.Fields {
		if err := d.field(f, p); err != nil {
			return fmt.Errorf("%s packet: %w", info.Name, err)
		}
	}
	switch k {
	case Part:
		return d.spread(p)
	case TLB:
		return d.tlb.set(p)
	}
	return nil
}

// spread puts the bytes of a Part where they belong in its line.
func (d *decoder) spread(p *Packet) error {
	if n := bits.OnesCount64(p.Mask); n != len(p.Bytes) {
		return fmt.Errorf("part packet: %d bytes, its mask has %d", len(p.Bytes), n)
	}
	d.buf = zeroLine
	for m, i := p.Mask, 0; m != 0; m, i = m&(m-1), i+1 {
		d.buf[bits.TrailingZeros64(m)] = p.Bytes[i]
	}
	p.Data = &d.buf
	return nil
}

func (d *decoder) nextImport(p *Packet) error {
	if err := d.nextLine(p); err != nil {
		return err
	}
	switch p.Kind {
	case importZero:
		p.Data = &zeroLine
	case importMask:
		m, err := d.bytes(8)
		if err != nil {
			return err
		}
		mask := binary.LittleEndian.Uint64(m)
		src, err := d.bytes(bits.OnesCount64(mask))
		if err != nil {
			return err
		}
		d.buf = zeroLine
		for i := 0; mask != 0; mask &= mask - 1 {
			d.buf[bits.TrailingZeros64(mask)] = src[i]
			i++
		}
		p.Data = &d.buf
	default:
		src, err := d.bytes(LineSize)
		if err != nil {
			return err
		}
		p.Data = (*[LineSize]byte)(src)
	}
	p.Kind = Import
	return nil
}

func (w Where) allows(stream uint32) bool {
	if stream == FilesStream || w == InFiles {
		return w == InFiles && stream == FilesStream
	}
	return w == Anywhere || (w == InProcess) == (stream == 0)
}

func (d *decoder) field(f *Field, p *Packet) error {
	switch f.Wire {
	case wireMin:
		v, err := d.uvarint()
		d.min += uint64(unzigzag(v))
		p.Min = d.min
		return err
	case wireLine:
		return d.nextLine(p)
	case wirePage:
		v, err := d.uvarint()
		p.N = d.tlb.page + uint64(unzigzag(v))
		return err
	case wireSince:
		v, err := d.uvarint()
		p.Since = d.min - uint64(unzigzag(v))
		return err
	case wireFixed:
		v, err := d.bytes(8)
		if err != nil {
			return err
		}
		*f.ptr(p).(*uint64) = binary.LittleEndian.Uint64(v)
		return nil
	}
	var err error
	switch v := f.ptr(p).(type) {
	case *uint64:
		*v, err = d.uvarint()
	case *uint32:
		x, e := d.uvarint()
		if err = e; x != uint64(uint32(x)) {
			return fmt.Errorf("%s: %d doesn't fit 32 bits", f.Name, x)
		}
		*v = uint32(x)
	case *uint8:
		*v, err = d.byte()
	case *bool:
		x, e := d.byte()
		if err = e; x > 1 {
			return fmt.Errorf("%s: %d, expected 0 or 1", f.Name, x)
		}
		*v = x == 1
	case *int64:
		x, e := d.uvarint()
		*v, err = unzigzag(x), e
	case *int32:
		x, e := d.uvarint()
		s := unzigzag(x)
		if err = e; s != int64(int32(s)) {
			return fmt.Errorf("%s: %d doesn't fit 32 bits", f.Name, s)
		}
		*v = int32(s)
	case *[6]uint64:
		for i := range v {
			if v[i], err = d.uvarint(); err != nil {
				return err
			}
		}
	case *[]byte:
		n, e := d.length(f, MaxBytes, 1)
		if e != nil {
			return e
		}
		*v, err = d.bytes(n)
	case *string:
		*v, err = d.str(f)
	case *[]uint64:
		err = list(d, f, v, 1, func(x *uint64) (err error) {
			*x, err = d.uvarint()
			return err
		})
	case *[]Object:
		err = list(d, f, v, 2, func(x *Object) (err error) {
			if x.Kind, err = d.byte(); err == nil {
				x.ID, err = d.uvarint()
			}
			return err
		})
	case *[]Range:
		prev := uint64(0)
		err = list(d, f, v, 2, func(x *Range) error { return d.span(&x.Addr, &x.N, &prev) })
	case *[]LineRange:
		prev := uint64(0)
		err = list(d, f, v, 2, func(x *LineRange) error { return d.span(&x.First, &x.N, &prev) })
	case *[]Counter:
		err = list(d, f, v, 2, func(x *Counter) (err error) {
			if x.Name, err = d.str(f); err == nil {
				x.Value, err = d.uvarint()
			}
			return err
		})
	default:
		panic("BUG: traces: field " + f.Name + " has a type without encoding")
	}
	return err
}

func (d *decoder) str(f *Field) (string, error) {
	n, err := d.length(f, MaxString, 1)
	if err != nil {
		return "", err
	}
	b, err := d.bytes(n)
	return string(b), err
}

// span reads an address, as the difference to the previous one, and a length.
func (d *decoder) span(addr, n, prev *uint64) error {
	v, err := d.uvarint()
	if err != nil {
		return err
	}
	*prev += uint64(unzigzag(v))
	*addr = *prev
	*n, err = d.uvarint()
	return err
}

// list reads a list into *v, reusing its array.
func list[T any](d *decoder, f *Field, v *[]T, min int, item func(*T) error) error {
	n, err := d.length(f, MaxItems, min)
	if err != nil {
		return err
	}
	s := (*v)[:0]
	for i := 0; i < n; i++ {
		var x T
		if err := item(&x); err != nil {
			return err
		}
		s = append(s, x)
	}
	*v = s
	return nil
}
