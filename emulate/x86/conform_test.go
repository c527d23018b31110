//go:build linux && amd64

package x86

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/racesim/racesim/hwmodel"
)

// notComparable lists, with the reason, the instructions that the real
// processor can't be asked about under ptrace.
var notComparable = map[string]string{
	"syscall": "enters the kernel",
	"cpuid":   "the emulated processor is another one",
	"rdtsc":   "non-deterministic",
	"rdtscp":  "non-deterministic",
	"rdrand":  "non-deterministic",
	"rdseed":  "non-deterministic",
	"rdpid":   "non-deterministic",
	"xgetbv":  "the emulated processor is another one",
	"int3":    "its trap can't be told from the step's",
	"int1":    "its trap can't be told from the step's",
}

// A conformer runs cases on the processor and in the emulator.
type conformer struct {
	caseMaker
	n    *native
	c    *CPU
	mem  *testMemory
	buf  []byte // what the processor's data hold after a step
	regs syscall.PtraceRegs
	fp   fpRegs
	hi   upperRegs

	inexact int // transcendental results that differ in the last place
}

// testMemory is the emulator's copy of the child's memory.
type testMemory struct {
	code   [codeSize]byte
	data   [dataSize + 128]byte
	ro     [roSize + 128]byte
	skew   int  // how far lines are from where they'd be aligned
	noTags bool // install nothing in the window: every access takes the slow way
}

func aligned(b []byte) []byte {
	off := -uintptr(unsafe.Pointer(&b[0])) & 63
	return b[off:]
}

func (m *testMemory) dataBytes() []byte { return aligned(m.data[:])[m.skew:][:dataSize] }
func (m *testMemory) roBytes() []byte   { return aligned(m.ro[:])[m.skew:][:roSize] }

// at returns the bytes from a to the end of its region, nil if there are none.
func (m *testMemory) at(a uint64, write bool) []byte {
	switch {
	case a >= dataAddr && a < dataAddr+dataSize:
		return m.dataBytes()[a-dataAddr:]
	case a >= roAddr && a < roAddr+roSize && !write:
		return m.roBytes()[a-roAddr:]
	case a >= codeAddr && a < codeAddr+codeSize:
		return m.code[a-codeAddr:]
	}
	return nil
}

func (m *testMemory) Line(c *CPU, line uint64, write bool) unsafe.Pointer {
	b := m.at(line<<lineShift, write)
	if b == nil {
		Raise(&Stop{Kind: StopFault, Vector: VecPF, Addr: line << lineShift})
	}
	p := unsafe.Pointer(&b[0])
	if !m.noTags {
		c.Win.Allow(line, p, m.at(line<<lineShift, true) != nil)
	}
	return p
}

func (m *testMemory) Code(c *CPU, pc uint64) []byte {
	if pc < codeAddr || pc >= codeAddr+codeSize {
		return nil
	}
	return m.code[pc-codeAddr : (pc-codeAddr)&^0xfff+0x1000]
}

func (m *testMemory) Orderable(*CPU, uint64, int)         {}
func (m *testMemory) Nondet(*CPU, NondetKind, uint8, int) {}

func newRand(seed int64) *rand.Rand { return rand.New(rand.NewSource(seed)) }

func newConformer(n *native, seed int64) (*conformer, error) {
	m := &testMemory{}
	x := &conformer{
		caseMaker: caseMaker{newRand(seed)},
		n:         n, mem: m,
		c:   &CPU{Win: new(hwmodel.Window), Mem: m, Env: m, Blocks: NewBlockCache()},
		buf: make([]byte, dataSize),
	}
	x.Read(m.dataBytes())
	if err := n.regs(&x.regs); err != nil {
		return nil, err
	}
	if err := n.fpRegs(&x.fp, &x.hi); err != nil {
		return nil, err
	}
	return x, n.write(dataAddr, m.dataBytes())
}

// A verdict is the outcome of one case.
type verdict struct {
	skip string // why it wasn't compared
	diff string // the first difference
	trap trap
}

// run executes t from state s in both and compares.
func (x *conformer) run(t *testCase, s machine) (v verdict, err error) {
	if t.target != 0 && t.memSize > 0 {
		for i := range t.memSize { // only what is writable
			if a := t.target + uint64(i); a >= dataAddr && a < roAddr {
				b := x.mem.at(a, true)
				b = b[:min(len(b), t.memSize-i)]
				x.fillMemory(b, t, &s)
				if err := x.n.write(a, b); err != nil {
					return v, err
				}
				break
			}
		}
	}
	if err := x.prepareStack(t, &s); err != nil {
		return v, err
	}
	// The instruction, then a jump to itself, so that the emulator's block goes on.
	code := append(slices.Clone(t.code), 0xEB, 0xFE)
	if t.rel32 != nil {
		x.fixRIP(t, code)
	}
	copy(x.mem.code[testPC-codeAddr:], code)
	if err := x.n.write(testPC, code); err != nil {
		return v, err
	}
	var native machine
	if v.trap, err = x.native(&s, &native, isString(t.f) || t.f.vsib); err != nil {
		return v, err
	}
	emu, stop := x.emulate(t, &s)
	if stop.Unsupported() {
		v.diff = fmt.Sprintf("processor: %v, emulator: unsupported instruction", v.trap)
		if !v.trap.stepped() && v.trap.sig == syscall.SIGILL {
			v.diff = ""
		}
		return v, nil
	}
	if stop.Kind == StopFault { // nothing of it was done
		f := *t.f
		f.flags.undef = 0
		c := *t
		c.f = &f
		t = &c
	}
	v.diff = x.compare(t, v.trap, &native, &emu, stop)
	if v.diff != "" { // start afresh
		return v, x.n.write(dataAddr, x.mem.dataBytes())
	}
	return v, nil
}

// prepareStack sets what POPF takes and where RET goes.
func (x *conformer) prepareStack(t *testCase, s *machine) error {
	var mask uint64
	switch t.f.mnem {
	case "popf":
		mask = arithFlags | DF
	case "ret":
		mask = 1<<47 - 1
	default:
		return nil
	}
	b := x.mem.at(s.r[RSP], true)
	if len(b) < 8 {
		return nil
	}
	v := x.Uint64() & mask
	binary.LittleEndian.PutUint64(b, v)
	return x.n.write(s.r[RSP], b[:8])
}

// fixRIP sets the RIP-relative displacement, which t.rel32 marks, in code.
func (x *conformer) fixRIP(t *testCase, code []byte) {
	d := inst{code: t.code, pc: testPC}
	d.parse()
	off := d.off + 1
	binary.LittleEndian.PutUint32(code[off:], uint32(t.target-testPC-uint64(len(t.code))))
	copy(t.code, code)
}

// native executes the instruction, all iterations of it if it repeats. A gather
// that faults after some elements is first stopped by the step's own trap, with
// the instruction pointer on it (SDM volume 2, VPGATHERDD).
func (x *conformer) native(s, after *machine, repeats bool) (t trap, err error) {
	s.native(&x.regs)
	if err := x.n.setRegs(&x.regs); err != nil {
		return t, fmt.Errorf("PTRACE_SETREGS: %w", err)
	}
	if err := x.n.setFPRegs(&s.fx, &s.hi); err != nil {
		return t, fmt.Errorf("set the vector registers: %w", err)
	}
	for range 1000 {
		if t, err = x.n.step(); err != nil {
			return t, err
		}
		if err := x.n.regs(&x.regs); err != nil {
			return t, err
		}
		if !t.stepped() || x.regs.Rip != s.rip || !repeats {
			break
		}
	}
	if err := x.n.fpRegs(&x.fp, &x.hi); err != nil {
		return t, err
	}
	after.fromNative(&x.regs)
	after.fx, after.hi = x.fp, x.hi
	return t, x.n.read(dataAddr, x.buf)
}

// emulate executes the instruction in the emulator, in one of its ways.
func (x *conformer) emulate(t *testCase, s *machine) (after machine, stop Stop) {
	s.set(x.c)
	x.mem.noTags = x.chance(3)
	x.c.Win.Clear()
	x.c.Blocks.InvalidateAll()
	op, _, _ := decodeOp(x.mem.Code(x.c, testPC), testPC)
	limit := uint64(1)
	if op.attr&attrEnd == 0 && x.chance(2) {
		limit = 2
	}
	stop = x.c.Run(limit)
	after.get(x.c)
	return after, stop
}

// compare returns the first difference.
func (x *conformer) compare(t *testCase, tr trap, native, emu *machine, stop Stop) string {
	if otherwise(t.f, t.code) != "" || checksFirst(t.f) && !tr.stepped() && (stop.Kind == StopLimit || stop.Vector == VecMF) {
		copy(x.mem.dataBytes(), x.buf)
		return ""
	}
	got := "completed"
	if stop.Kind != StopLimit {
		got = fmt.Sprintf("%v, vector %d, address %#x", stop.Kind, stop.Vector, stop.Addr)
	}
	tr.anyAddr = t.f.mnem == "enter" || strings.Contains(t.f.mnem, "maskmov") || t.f.vsib // which of its accesses comes first isn't defined
	if (strings.HasPrefix(t.f.mnem, "maskmov") || t.f.mnem == "vmaskmovdqu") && tr.stepped() != (stop.Kind == StopLimit) {
		copy(x.mem.dataBytes(), x.buf)
		return "" // whether bytes that the mask excludes fault isn't defined (SDM, MASKMOVQ)
	}
	if t.memSize == XSaveSize && len(x.mem.at(t.target, true)) < XSaveSize {
		copy(x.mem.dataBytes(), x.buf)
		return "" // which bytes of an XSAVE area are touched, needed or not, isn't defined (SDM volume 1, 13.8)
	}
	if !sameEnd(tr, &stop, t.memSize) {
		return fmt.Sprintf("processor: %v, emulator: %s", tr, got)
	}
	undef := t.f.flags.undef | undefinedElsewhere(t.f)
	if isTranscendental[t.f.mnem] && closeX87(&native.fx, &emu.fx) {
		x.inexact++
		emu.fx = native.fx
	}
	if strings.HasPrefix(t.f.mnem, "xrstor") && emu.mxcsr() == MXCSRInit {
		binary.LittleEndian.PutUint32(emu.fx[24:], native.mxcsr()) // where the manual initialises MXCSR, processors differ
	}
	if stop.Kind == StopFault && t.f.mnem == "enter" {
		copy(x.mem.dataBytes(), x.buf) // it pushes before it tries its final stack pointer
	}
	if stop.Kind == StopFault && t.memSize == 10 {
		// A store of ten bytes that faults in its second half may have done the first.
		x.adoptMemory(t)
	}
	if stop.Kind == StopFault && (stop.Vector == VecPF || stop.Vector == VecGP) && storesMMX(t.f) {
		// An MMX store that faults may already have reset TOP and the tags.
		copy(emu.fx[:24], native.fx[:24])
		copy(emu.fx[32:160], native.fx[32:160])
	}
	native.fx[28], native.fx[29], native.fx[30], native.fx[31] = 0, 0, 0, 0
	if d := native.diff(emu, undef); d != "" {
		return d
	}
	data := x.mem.dataBytes()
	if t.f.mnem == "pushf" && stop.Kind == StopLimit {
		if i := native.r[RSP] - dataAddr + 1; i < dataSize {
			x.buf[i] &^= TF >> 8 // the step's own trap flag
			x.n.write(dataAddr+i, x.buf[i:i+1])
		}
	}
	if !bytes.Equal(x.buf, data) {
		for i := range data {
			if x.buf[i] != data[i] {
				n := min(16, len(data)-i)
				return fmt.Sprintf("memory at %#x: processor % x, emulator % x", dataAddr+i, x.buf[i:i+n], data[i:i+n])
			}
		}
	}
	return ""
}

// storesMMX says whether f stores an MMX register to memory.
func storesMMX(f *form) bool {
	if f.mnem == "maskmovq" {
		return true
	}
	o := f.rmKind
	return o >= 0 && f.args[o].write && f.regKind >= 0 && f.args[f.regKind].class == classMM
}

// adoptMemory copies the processor's memory operand to the emulator.
func (x *conformer) adoptMemory(t *testCase) {
	for i := range t.memSize {
		if b := x.mem.at(t.target+uint64(i), true); b != nil && t.target+uint64(i) >= dataAddr {
			b[0] = x.buf[t.target+uint64(i)-dataAddr]
		}
	}
}

// isTranscendental holds the instructions whose results are only promised to
// within one unit in the last place (SDM volume 1, 8.3.10).
var isTranscendental = map[string]bool{
	"fsin": true, "fcos": true, "fsincos": true, "fptan": true, "fpatan": true,
	"f2xm1": true, "fyl2x": true, "fyl2xp1": true,
}

// closeX87 says whether the states differ, but only in the last place of ST(0)
// and ST(1), and C1, which tells the rounding direction.
func closeX87(s, e *fpRegs) bool {
	if bytes.Equal(s[:28], e[:28]) && bytes.Equal(s[32:160], e[32:160]) {
		return false
	}
	le := binary.LittleEndian
	c := *e
	sw := le.Uint16(s[2:])
	le.PutUint16(c[2:], le.Uint16(c[2:])&^swC1|sw&swC1)
	for i := range 2 {
		o := 32 + 16*i
		// Exponent and fraction as one number, modulo 2^64, so that a carry counts.
		num := func(r *fpRegs) uint64 { return uint64(le.Uint16(r[o+8:]))<<63 + le.Uint64(r[o:])<<1>>1 }
		if d := num(s) - num(&c); d+1 <= 2 {
			copy(c[o:o+10], s[o:o+10])
		}
	}
	return bytes.Equal(s[:28], c[:28]) && bytes.Equal(s[32:160], c[32:160])
}

// sameEnd says whether the emulator's stop is what the signal means.
func sameEnd(t trap, s *Stop, size int) bool {
	if t.stepped() {
		return s.Kind == StopLimit
	}
	if s.Kind != StopFault {
		return false
	}
	const fromKernel = 0x80 // SI_KERNEL: no address
	if t.code == fromKernel && s.Vector == VecPF && s.Addr>>6 == 1<<41-1 {
		return true // straddles the end of user addresses, of which nothing is ever mapped
	}
	switch t.sig {
	case syscall.SIGILL:
		return s.Vector == VecUD
	case syscall.SIGFPE:
		return s.Vector == VecDE && t.code == 1 || s.Vector == VecMF || s.Vector == VecXM
	case syscall.SIGSEGV:
		if t.code == fromKernel {
			return s.Vector == VecGP
		}
		if t.anyAddr {
			return s.Vector == VecPF
		}
		if size > 16 { // which byte is touched first isn't defined
			return s.Vector == VecPF && s.Addr-t.addr+uint64(size) < 2*uint64(size)
		}
		return s.Vector == VecPF && s.Addr == t.addr
	case syscall.SIGBUS: // #SS: a stack address that is none
		return t.code == fromKernel && s.Vector == VecGP || s.Vector == VecAC
	}
	return false
}

// allForms returns all forms of the table, in order of registration.
func allForms(t testing.TB) []*form {
	var l []*form
	for i := range tables {
		f, err := parseRow(&tables[i])
		if err != nil {
			t.Fatalf("row %q %q: %v", tables[i].enc, tables[i].mnem, err)
		}
		l = append(l, f)
	}
	return l
}

// TestFormsMatchProcessor executes every form of the instruction table on the
// real processor and in the emulator. RACESIM_CONFORM is the number of cases
// per form (default 100), RACESIM_CONFORM_SEED the seed, RACESIM_CONFORM_ONLY a
// regular expression for the names of the forms to execute, RACESIM_CONFORM_PAGE a
// file that the results are written to (docs/instructions.md; see make conform).
func TestFormsMatchProcessor(t *testing.T) {
	count, seed := envInt(t, "RACESIM_CONFORM", 100), envInt(t, "RACESIM_CONFORM_SEED", 1)
	only := regexp.MustCompile(os.Getenv("RACESIM_CONFORM_ONLY"))
	withNative(t, func(n *native) {
		x, err := newConformer(n, int64(seed))
		if err != nil {
			t.Fatal(err)
		}
		have := processorFeatures(t)
		var all []formResult
		for _, f := range allForms(t) {
			name := f.enc + " " + f.mnem
			if !only.MatchString(name) {
				continue
			}
			why := notComparable[f.mnem]
			if why == "" && !have.have(f) {
				why = "the host doesn't have it"
			}
			if why == "" && !intelHost() {
				why = elsewhere[f.mnem]
			}
			if why != "" {
				t.Logf("%-28s not compared: %s", name, why)
				all = append(all, formResult{f: f, why: why})
				continue
			}
			x.Seed(int64(seed) + int64(len(name))<<32)
			r, err := x.form(t, f, name, count)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all = append(all, r)
		}
		if page := os.Getenv("RACESIM_CONFORM_PAGE"); page != "" {
			if err := os.WriteFile(page, formsPage(all), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// form compares count cases of f and reports.
func (x *conformer) form(t *testing.T, f *form, name string, count int) (formResult, error) {
	var done, faults, bad, other int
	x.inexact = 0
	const show = 3
	for range count {
		c := x.make(f)
		if c == nil {
			continue
		}
		var s machine
		x.state(&s, c)
		v, err := x.run(c, s)
		if err != nil {
			return formResult{}, fmt.Errorf("% x: %w", c.code, err)
		}
		if _, g, _ := decodeOp(c.code, testPC); g == nil || g.row != f.row && g.enc != f.enc {
			other++ // another row took the bytes; compared all the same
		}
		done++
		if !v.trap.stepped() {
			faults++
		}
		if v.diff != "" {
			if bad++; bad <= show {
				t.Errorf("%s: % x: %s\n\t%s", name, c.code, v.diff, s.describe(f))
			}
		}
	}
	if bad > show {
		t.Errorf("%s: %d of %d cases differ", name, bad, done)
	}
	if count >= 10 && done == other {
		t.Errorf("%s: no case decodes as this form: the row can't be reached", name)
	}
	if x.inexact > 0 {
		t.Logf("%-28s %d of %d results differ in the last place or in C1", name, x.inexact, done)
	}
	t.Logf("%-28s %-44s %d cases, %d faults, %d by other forms, %d differ", name, f.row.args, done, faults, other, bad)
	return formResult{f: f, done: done, faults: faults, bad: bad, inexact: x.inexact}, nil
}

func envInt(t testing.TB, name string, def int) int {
	s := os.Getenv(name)
	if s == "" {
		return def
	}
	v, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s=%q: want a number", name, s)
	}
	return v
}
