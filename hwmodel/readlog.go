package hwmodel

import (
	"fmt"
	"strconv"
	"strings"
)

// A ReadLogKind says how a recording logs what threads read.
type ReadLogKind uint8

// The kinds of logs.
const (
	_           ReadLogKind = iota
	ReadsCache              // lines, when they flow into a thread's caches
	ReadsPage               // pages, when a thread acquires them
	ReadsNone               // the value of every read
	ReadsLast               // values that aren't the one read last
	ReadsZero               // values that aren't 0
	ReadsShadow             // values that aren't in a small copy of memory
)

// A ReadLog is a kind and its parameter. Its zero value isn't valid.
type ReadLog struct {
	Kind ReadLogKind
	Bits uint8 // ReadsShadow: the copy has 1 << Bits bytes, minShadow to maxShadow
}

// The smallest copy still holds a line, the biggest is what a thread may take.
const (
	minShadow = LineShift
	maxShadow = 28
)

// ParseReadLog reads what String returns.
func ParseReadLog(s string) (ReadLog, error) {
	switch s {
	case "cache":
		return ReadLog{Kind: ReadsCache}, nil
	case "page":
		return ReadLog{Kind: ReadsPage}, nil
	case "none":
		return ReadLog{Kind: ReadsNone}, nil
	case "last":
		return ReadLog{Kind: ReadsLast}, nil
	case "zero":
		return ReadLog{Kind: ReadsZero}, nil
	}
	if n, ok := strings.CutPrefix(s, "shadow:"); ok {
		b, err := strconv.ParseUint(n, 10, 8)
		if err != nil || b < minShadow || b > maxShadow {
			return ReadLog{}, fmt.Errorf("read log %q: want shadow:N with N from %d to %d (a copy of 2^N bytes)", s, minShadow, maxShadow)
		}
		return ReadLog{ReadsShadow, uint8(b)}, nil
	}
	return ReadLog{}, fmt.Errorf("read log %q: want cache, page, none, last, zero or shadow:N", s)
}

func (l ReadLog) String() string {
	switch l.Kind {
	case ReadsCache:
		return "cache"
	case ReadsPage:
		return "page"
	case ReadsNone:
		return "none"
	case ReadsLast:
		return "last"
	case ReadsZero:
		return "zero"
	case ReadsShadow:
		return fmt.Sprintf("shadow:%d", l.Bits)
	}
	return "invalid"
}

// Values says whether single values are logged: a Predictor says which.
func (l ReadLog) Values() bool { return l.Kind >= ReadsNone }

// SeesStores says whether stores matter to the Predictor.
func (l ReadLog) SeesStores() bool { return l.Kind == ReadsShadow }

// A Predictor says what a thread will read next, the same in recording and
// replay: only what it gets wrong must be logged. Each thread has its own. It
// starts with, and Reset brings back, what is the same everywhere: nothing was
// read yet, and a shadow copy is all 0.
type Predictor struct {
	kind   ReadLogKind
	last   uint64
	some   bool // last means something
	shadow []byte
	mask   uint64
	dirty  bool // shadow isn't all 0
}

// Predictor returns the predictor of a log of values.
func (l ReadLog) Predictor() *Predictor {
	p := &Predictor{kind: l.Kind}
	if l.Kind == ReadsShadow {
		p.shadow = make([]byte, 1<<l.Bits)
		p.mask = uint64(len(p.shadow) - 1)
	}
	return p
}

// Predict returns what a read of size (1 to 8) bytes at addr is expected to
// give, extended with zeros; false means that nothing is expected.
func (p *Predictor) Predict(addr uint64, size int) (uint64, bool) {
	switch p.kind {
	case ReadsLast:
		return p.last & (1<<(8*size-1)<<1 - 1), p.some
	case ReadsZero:
		return 0, true
	case ReadsShadow:
		v := uint64(0)
		for i := 0; i < size; i++ {
			v |= uint64(p.shadow[(addr+uint64(i))&p.mask]) << (8 * i)
		}
		return v, true
	}
	return 0, false
}

// Loaded tells what was read.
func (p *Predictor) Loaded(addr uint64, size int, v uint64) {
	switch p.kind {
	case ReadsLast:
		p.last, p.some = v, true
	case ReadsShadow:
		p.copy(addr, size, v)
	}
}

// Stored tells what was written. It matters if ReadLog.SeesStores says so.
func (p *Predictor) Stored(addr uint64, size int, v uint64) {
	if p.kind == ReadsShadow {
		p.copy(addr, size, v)
	}
}

func (p *Predictor) copy(addr uint64, size int, v uint64) {
	p.dirty = true
	for i := 0; i < size; i++ {
		p.shadow[(addr+uint64(i))&p.mask] = byte(v >> (8 * i))
	}
}

// Reset forgets everything.
func (p *Predictor) Reset() {
	p.last, p.some = 0, false
	if p.dirty {
		clear(p.shadow)
		p.dirty = false
	}
}

// Clone returns a copy that goes its own way.
func (p *Predictor) Clone() *Predictor {
	c := *p
	c.shadow = append([]byte(nil), p.shadow...)
	return &c
}
