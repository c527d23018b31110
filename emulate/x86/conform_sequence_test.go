//go:build linux && amd64

package x86

import (
	"encoding/binary"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSequencesMatchProcessor executes short runs of instructions, so that
// lazy flags, dead flags and fused pairs meet what follows them, and faults in
// the middle of a block leave the exact state. RACESIM_CONFORM_SEQ is the
// number of runs (default 10000), RACESIM_CONFORM_SEED the seed.
func TestSequencesMatchProcessor(t *testing.T) {
	count, seed := envInt(t, "RACESIM_CONFORM_SEQ", 10000), envInt(t, "RACESIM_CONFORM_SEED", 1)
	withNative(t, func(n *native) {
		x, err := newConformer(n, int64(seed))
		if err != nil {
			t.Fatal(err)
		}
		var body, last []*form
		only := regexp.MustCompile(os.Getenv("RACESIM_CONFORM_ONLY"))
		for _, f := range allForms(t) {
			if !only.MatchString(f.enc + " " + f.mnem) {
				continue
			}
			switch kindInSequence(f) {
			case inBody:
				body = append(body, f)
			case atEnd:
				last = append(last, f)
			}
		}
		faults, bad, steps := 0, 0, 0
		for range count {
			s := x.sequence(body, last)
			done, diff, err := x.runSequence(s)
			if err != nil {
				t.Fatalf("%s: %v", s, err)
			}
			steps += done
			if done < len(s.cases) {
				faults++
			}
			if diff != "" {
				if bad++; bad <= 5 {
					t.Errorf("%s: after %d of %d: %s", s, done, len(s.cases), diff)
				}
			}
		}
		t.Logf("%d sequences, %d instructions, %d faults, %d differ", count, steps, faults, bad)
	})
}

type sequenceKind uint8

const (
	notInSequence sequenceKind = iota
	inBody
	atEnd
)

// kindInSequence says where in a sequence f may stand.
func kindInSequence(f *form) sequenceKind {
	switch {
	case notComparable[f.mnem] != "", isTranscendental[f.mnem], isString(f), f.vsib, strings.HasPrefix(f.mnem, "xsave"), strings.HasPrefix(f.mnem, "xrstor"),
		strings.HasPrefix(f.mnem, "fxrstor"), strings.HasPrefix(f.mnem, "wr"):
		return notInSequence
	}
	if !intelHost() && (elsewhere[f.mnem] != "" || slices.Contains(shiftNames, f.mnem) || isBranch(f.mnem) || checksFirst(f)) {
		return notInSequence
	}
	switch f.mnem {
	case "popf", "pushf", "ret", "enter", "leave", "ldmxcsr", "vldmxcsr", "fldenv", "frstor", "fnsave", "fldcw", "clflush":
		return notInSequence
	case "call", "jmp", "loop", "loope", "loopne", "jrcxz":
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

// plainBytes is some encoding of f, good enough to learn its attributes.
func plainBytes(f *form) []byte {
	t := caseMaker{newRand(1)}.make(f)
	if t == nil {
		return []byte{0x90}
	}
	return t.code
}

// A sequence is a run of instructions from one state.
type sequence struct {
	cases []*testCase
	state machine
	code  []byte
	undef uint64 // flags that are undefined at the end
}

func (s *sequence) String() string {
	var b strings.Builder
	for i, c := range s.cases {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s [% x]", c.f.mnem, c.code)
	}
	return b.String()
}

// sequence makes one. Only its first instruction's address may depend on
// registers; flags that the manual leaves undefined aren't read.
func (x *conformer) sequence(body, last []*form) *sequence {
	s := &sequence{}
	n := 2 + x.Intn(6)
	for len(s.cases) < n {
		l := body
		if len(s.cases) == n-1 && len(last) > 0 && x.chance(2) {
			l = last
		}
		f := l[x.Intn(len(l))]
		if x.chance(2) && f.opmap == 1 && f.mnem[0] != 'j' { // more of the plain integer instructions
			continue
		}
		if f.flags.read&s.undef != 0 {
			continue
		}
		c := x.make(f)
		if c == nil || c.rel32 != nil || len(s.cases) > 0 && c.fixed != [16]bool{} {
			continue
		}
		s.undef = leftUndefined(s.undef, f)
		s.cases = append(s.cases, c)
		s.code = append(s.code, c.code...)
	}
	x.caseMaker.state(&s.state, s.cases[0])
	for _, c := range s.cases[1:] {
		if !s.cases[0].fixed[RDX] && !s.cases[0].fixed[RAX] && c.f.mnem == "div" {
			s.state.r[RDX] = 0
		}
	}
	return s
}

// leftUndefined is what is undefined after f, if undef was before.
func leftUndefined(undef uint64, f *form) uint64 {
	switch f.mnem {
	case "rol", "ror", "rcl", "rcr", "shl", "shr", "sar", "shld", "shrd":
		return undef | f.flags.undef // by zero: writes nothing
	}
	return undef&^f.flags.write | f.flags.undef
}

// runSequence executes s in both. done is how many instructions completed on
// the processor.
func (x *conformer) runSequence(s *sequence) (done int, diff string, err error) {
	code := append(append([]byte{}, s.code...), 0xEB, 0xFE)
	copy(x.mem.code[testPC-codeAddr:], code)
	if err := x.n.write(testPC, code); err != nil {
		return 0, "", err
	}
	for _, c := range s.cases {
		if a := c.target; a >= dataAddr && a < roAddr && c.memSize > 0 {
			b := x.mem.at(a, true)
			b = b[:min(len(b), c.memSize)]
			x.fillMemory(b, c, &s.state)
			if err := x.n.write(a, b); err != nil {
				return 0, "", err
			}
		}
	}
	st := s.state
	var t trap
	var native machine
	for i := range s.cases {
		if t, err = x.native(&st, &native, false); err != nil {
			return i, "", err
		}
		st = native
		binary.LittleEndian.PutUint32(st.fx[28:], 0xffff)
		if !t.stepped() {
			break
		}
		done++
	}
	start := s.state
	start.set(x.c)
	x.mem.noTags = x.chance(4)
	x.c.Win.Clear()
	x.c.Blocks.InvalidateAll()
	before := x.c.Count
	limit := uint64(len(s.cases))
	end := s.cases[len(s.cases)-1]
	if kindInSequence(end.f) == inBody && x.chance(2) {
		limit++
	}
	stop := x.c.Run(limit)
	var emu machine
	emu.get(x.c)
	diff = x.compareSequence(s, done, limit, t, &native, &emu, stop)
	if n := x.c.Count - before; diff == "" && n != uint64(done) && !(t.stepped() && n == limit) {
		diff = fmt.Sprintf("instructions: processor %d, emulator %d", done, n)
	}
	if diff != "" {
		err = x.n.write(dataAddr, x.mem.dataBytes())
	}
	return done, diff, err
}

func (x *conformer) compareSequence(s *sequence, done int, limit uint64, t trap, native, emu *machine, stop Stop) string {
	if stop.Unsupported() && t.sig.String() == "illegal instruction" {
		return ""
	}
	// The last instruction that ran decides how a fault compares.
	at := s.cases[min(done, len(s.cases)-1)]
	f := *at.f
	if stop.Kind == StopFault {
		s.undef = 0
		for _, c := range s.cases[:done] {
			s.undef = leftUndefined(s.undef, c.f)
		}
	}
	f.flags.undef = s.undef
	c := *at
	c.f = &f
	return x.compare(&c, t, native, emu, stop)
}
