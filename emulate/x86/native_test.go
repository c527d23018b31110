//go:build linux && amd64

package x86

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/racesim/racesim/hwmodel"
)

// translating lets processors translate, from the first execution on and whatever
// they can, or never.
func translating(t testing.TB, on bool) {
	was, all, hot := Translate, translateAll, hotBlock
	t.Cleanup(func() { Translate, translateAll, hotBlock = was, all, hot })
	Translate, translateAll, hotBlock = on, on, 1
	if !on {
		hotBlock = math.MaxUint32
	}
}

// TestTranslationMatchesRunLoop executes every form, alone and in sequences,
// translated and by the run loop, from the same states: everything must be
// alike, undefined flags too, as a recording and its replay may translate other
// blocks. RACESIM_CONFORM_SEQ is the number of sequences, RACESIM_CONFORM_SEED
// the seed.
func TestTranslationMatchesRunLoop(t *testing.T) {
	translating(t, true)
	count, seed := envInt(t, "RACESIM_CONFORM_SEQ", 6000), envInt(t, "RACESIM_CONFORM_SEED", 1)
	m := &testMemory{skew: 8} // on the host, a line may lie at any multiple of 8
	x := &conformer{caseMaker: caseMaker{newRand(int64(seed))}, mem: m,
		c: &CPU{Win: new(hwmodel.Window), Mem: m, Env: m, Blocks: NewBlockCache()}}
	x.Read(m.dataBytes())
	var forms, body, last []*form
	for _, f := range allForms(t) {
		switch kindInTranslation(f) {
		case inBody:
			body = append(body, f)
			forms = append(forms, f)
		case atEnd:
			last = append(last, f)
			forms = append(forms, f)
		}
	}
	bad, inside := 0, 0
	try := func(s *sequence) {
		diff, in := x.translated(t, s)
		inside += in
		if diff != "" {
			if bad++; bad <= 8 {
				t.Errorf("%s: %s", s, diff)
			}
		}
	}
	for _, f := range forms {
		for range max(count/1000, 3) {
			if c := x.make(f); c != nil && c.rel32 == nil {
				s := &sequence{cases: []*testCase{c}, code: c.code}
				x.caseMaker.state(&s.state, c)
				try(s)
			}
		}
	}
	for range count {
		try(x.sequence(body, last))
	}
	t.Logf("%d sequences, %d translated as a whole, %d differ", count, inside, bad)
	if inside < count/10 {
		t.Errorf("of %d sequences only %d were translated as a whole", count, inside)
	}
}

// kindInTranslation is kindInSequence without what differs between processors.
func kindInTranslation(f *form) sequenceKind {
	switch {
	case notComparable[f.mnem] != "", f.vsib:
		return notInSequence
	}
	switch f.mnem {
	case "call", "jmp", "loop", "loope", "loopne", "jrcxz", "ret":
		return atEnd
	}
	if f.mnem[0] == 'j' {
		return atEnd
	}
	op, _, _ := decodeOp(append(plainBytes(f), make([]byte, 16)...), testPC)
	if op.attr&attrEnd != 0 {
		return notInSequence
	}
	return inBody
}

// translated executes s both ways. inside is 1 if all of it was translated.
func (x *conformer) translated(t *testing.T, s *sequence) (diff string, inside int) {
	copy(x.mem.code[testPC-codeAddr:], append(append([]byte{}, s.code...), 0xEB, 0xFE))
	for _, c := range s.cases {
		if a := c.target; a >= dataAddr && a < roAddr && c.memSize > 0 {
			b := x.mem.at(a, true)
			x.fillMemory(b[:min(len(b), c.memSize)], c, &s.state)
		}
	}
	before := bytes.Clone(x.mem.dataBytes())
	limit := uint64(len(s.cases) + 1)
	if op, _, _ := decodeOp(s.cases[len(s.cases)-1].code, testPC); op.attr&attrEnd != 0 {
		limit--
	}
	if x.chance(10) {
		limit = 1 + uint64(x.Intn(int(limit)))
	}
	full := !x.chance(4)
	holes := x.Int63()
	var states [3]State
	var stops [3]Stop
	var counts [3]uint64
	var data [3][]byte
	for i := range 3 {
		copy(x.mem.dataBytes(), before)
		start := s.state
		start.set(x.c)
		x.c.pend = Pending{}
		x.c.trap = false
		x.mem.noTags = false
		x.c.Win.Clear()
		x.fillWindow(full, holes)
		x.c.Blocks.InvalidateAll()
		if hotBlock = 1; i != 1 {
			hotBlock = math.MaxUint32
		}
		x.c.Count = 0
		if i < 2 {
			stops[i] = x.c.Run(limit)
		} else { // one by one
			for range limit {
				if stops[i] = x.c.Run(1); stops[i].Kind != StopLimit {
					break
				}
			}
		}
		if b := x.c.Blocks.blocks[testPC]; i == 1 && b != nil && b.native != 0 && full && !slices.ContainsFunc(b.resume, func(at uint32) bool { return at != 0 }) {
			inside = 1
		}
		states[i], counts[i] = x.c.State(), x.c.Count
		data[i] = bytes.Clone(x.mem.dataBytes())
	}
	if diff = alike(states[0], states[1], stops[0], stops[1], counts[0], counts[1], data[0], data[1]); diff != "" {
		return "run loop, then translated: " + diff, inside
	}
	if diff = alike(states[0], states[2], stops[0], stops[2], counts[0], counts[2], data[0], data[2]); diff != "" {
		return "run loop, then step by step: " + diff, inside
	}
	return diff, inside
}

// alike returns the first difference between two ways to execute the same.
func alike(a, b State, sa, sb Stop, na, nb uint64, da, db []byte) string {
	switch {
	case na != nb:
		return fmt.Sprintf("executed %d, %d; %+v, %+v", na, nb, sa, sb)
	case fmt.Sprintf("%+v", sa) != fmt.Sprintf("%+v", sb):
		return fmt.Sprintf("stopped by %+v, %+v", sa, sb)
	case a.RIP != b.RIP:
		return fmt.Sprintf("rip %#x, %#x", a.RIP, b.RIP)
	case a.Flags != b.Flags:
		return fmt.Sprintf("flags %s, %s", flagNames(a.Flags), flagNames(b.Flags))
	}
	for i := range da {
		if da[i] != db[i] {
			return fmt.Sprintf("memory at %#x: %#x, %#x", dataAddr+i, da[i], db[i])
		}
	}
	for i := range a.R {
		if a.R[i] != b.R[i] {
			return fmt.Sprintf("register %d: %#x, %#x", i, a.R[i], b.R[i])
		}
	}
	for i := range a.X {
		if a.X[i] != b.X[i] || a.Y[i] != b.Y[i] {
			return fmt.Sprintf("ymm%d %x %x, %x %x", i, a.X[i], a.Y[i], b.X[i], b.Y[i])
		}
	}
	if a != b {
		return fmt.Sprintf("mxcsr %x, %x, or the x87 unit", a.MXCSR, b.MXCSR)
	}
	return ""
}

// fillWindow lets the window hold the data; unless full, with holes that only
// depend on the number.
func (x *conformer) fillWindow(full bool, holes int64) {
	r := newRand(holes)
	for a := uint64(dataAddr); a < roAddr+roSize; a += hwmodel.LineSize {
		b := x.mem.at(a, false)
		if b == nil || !full && r.Intn(3) == 0 {
			continue
		}
		x.c.Win.Allow(a>>lineShift, unsafe.Pointer(&b[0]), x.mem.at(a, true) != nil && (full || r.Intn(3) != 0))
	}
}

// TestTranslatedFunctionsAgreeWithTheProcessor runs whole C functions.
func TestTranslatedFunctionsAgreeWithTheProcessor(t *testing.T) {
	translating(t, true)
	TestFunctionsAgreeWithTheProcessor(t)
}
