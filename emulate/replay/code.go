package replay

import (
	"fmt"
	"math/bits"
	"sort"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/hwmodel"
	"github.com/racesim/racesim/traces"
)

// A codeVersion is the content of a page of code from an orderable event on.
type codeVersion struct {
	min   uint64
	bytes []byte // empty: nothing can be executed there any more

	own bool // what is executed is what each thread's memory holds

	// Of a page of which the trace has only what was executed:
	part  bool
	lines uint64 // that it has, a bit each
	hash  uint64 // of the whole page; 0: unknown
	once  sync.Once
	whole []byte // from the module's file, nil: not to be had
}

// A recode says that a page of code changed.
type recode struct{ min, page uint64 }

// addCode notes a page of code.
func (s *Session) addCode(p *traces.Packet) {
	num := p.Addr >> PageShift
	if len(s.code[num]) > 0 {
		s.recodes = append(s.recodes, recode{p.Min, num})
	}
	v := &codeVersion{min: p.Min, bytes: append([]byte(nil), p.Bytes...)}
	if p.Kind == traces.CodePage {
		v.part, v.hash, v.bytes = true, p.Hash, make([]byte, PageSize)
	}
	if p.Kind == traces.CodeOwn {
		v.own = true
		if s.own == nil {
			s.own = map[uint64]bool{}
		}
		s.own[num] = true
	}
	s.code[num] = append(s.code[num], v)
}

// ownAt says whether code of a page is each thread's own after orderable event
// min.
func (s *Session) ownAt(num, min uint64) bool {
	if !s.own[num] {
		return false
	}
	v := s.code[num]
	for i := len(v) - 1; i >= 0; i-- {
		if v[i].min <= min || i == 0 {
			return v[i].own
		}
	}
	return false
}

// codeFrom returns what a memory knows from pc on, to the end of the page at
// most.
func (m *Memory) codeFrom(pc uint64) []byte {
	p := m.look(pc >> PageShift)
	if p == nil {
		return nil
	}
	off := pc % PageSize
	end := off / hwmodel.LineSize
	for end < linesPerPage && p.bytes(end) == ^uint64(0) {
		end++
	}
	if off >= end*hwmodel.LineSize {
		return nil
	}
	return p.data[off : end*hwmodel.LineSize]
}

// ownCode is Code for a page whose code is the thread's own.
func (t *Thread) ownCode(pc uint64) []byte {
	b := t.mem.codeFrom(pc)
	if b == nil && t.Unknown != nil {
		line := pc >> hwmodel.LineShift
		if d := t.Unknown(t, line, false); d != nil {
			t.importLine(line, d)
			b = t.mem.codeFrom(pc)
		}
	}
	return b
}

// addCodeLines notes lines of a page of code.
func (s *Session) addCodeLines(p *traces.Packet) error {
	vs := s.code[p.Line/linesPerPage]
	i := p.Line & lineInPage
	n := uint64(len(p.Bytes) / hwmodel.LineSize)
	switch {
	case len(vs) == 0 || !vs[len(vs)-1].part:
		return fmt.Errorf("replay: codelines packet of line %#x: no codepage packet before it has that page", p.Line)
	case n == 0 || len(p.Bytes)%hwmodel.LineSize != 0 || i+n > linesPerPage:
		return fmt.Errorf("replay: codelines packet of line %#x: %d bytes, expected whole lines of one page", p.Line, len(p.Bytes))
	}
	v := vs[len(vs)-1]
	copy(v.bytes[i*hwmodel.LineSize:], p.Bytes)
	v.lines |= (1<<n - 1) << i
	return nil
}

// from returns the bytes from off to the end of the page, or as far as they are
// known.
func (s *Session) from(v *codeVersion, num, off uint64) []byte {
	if !v.part {
		if off >= uint64(len(v.bytes)) {
			return nil
		}
		return v.bytes[off:]
	}
	i := off / hwmodel.LineSize
	n := uint64(bits.TrailingZeros64(^(v.lines >> i))) // lines from there on
	if i+n < linesPerPage {
		if whole := s.wholePage(v, num); whole != nil {
			return whole[off:]
		}
	}
	if n == 0 {
		return nil
	}
	return v.bytes[off : (i+n)*hwmodel.LineSize]
}

// wholePage returns a page of which the trace has only lines, if the module's
// file is known and has the same.
func (s *Session) wholePage(v *codeVersion, num uint64) []byte {
	f := s.static.Load()
	if f == nil || v.hash == 0 {
		return nil
	}
	v.once.Do(func() {
		if b := (*f)(num); len(b) == PageSize && xxh3.Hash(b) == v.hash {
			v.whole = b
		}
	})
	return v.whole
}

// StaticCode sets who is asked for pages of code as the modules' files have them
// (4096 bytes, nil: unknown), for what wasn't executed and isn't in the trace.
// Replay doesn't need it; it is for those who look at code that wasn't executed,
// and must be called before they begin. Only the first call counts.
func (s *Session) StaticCode(page func(num uint64) []byte) {
	s.static.CompareAndSwap(nil, &page)
}

// CodeAt returns the instruction bytes from pc to the end of its page, as they
// were after orderable event min, as far as they are known: nil if the byte at pc
// isn't. The caller must not change them.
func (s *Session) CodeAt(pc emulate.Addr, min uint64) []byte {
	v := s.code[pc.Page()]
	for i := len(v) - 1; i >= 0; i-- {
		if v[i].min > min && i > 0 {
			continue
		}
		// The first version also serves what came before it: a page's first
		// decoding has no event of its own.
		return s.from(v[i], pc.Page(), uint64(pc)%PageSize)
	}
	return nil
}

// CodeMissing says that pc is in memory that could be executed, and that what is
// there isn't known.
func (s *Session) CodeMissing(pc emulate.Addr, min uint64) bool {
	if len(s.CodeAt(pc, min)) > 0 {
		return false
	}
	if v := s.code[pc.Page()]; len(v) > 0 {
		return v[0].part
	}
	for _, m := range s.EveryMapping() {
		if m.Prot&protExec != 0 && m.Addr <= pc && uint64(pc-m.Addr) < m.N {
			return true
		}
	}
	return false
}

// protExec is PROT_EXEC of mmap(2).
const protExec = 4

// CodePages returns the numbers of the pages whose code is in the trace, in
// ascending order.
func (s *Session) CodePages() []uint64 {
	var r []uint64
	for p := range s.code {
		r = append(r, p)
	}
	sort.Slice(r, func(i, j int) bool { return r[i] < r[j] })
	return r
}
