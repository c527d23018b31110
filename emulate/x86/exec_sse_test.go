//go:build linux && amd64

package x86

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/racesim/racesim/hwmodel"
)

// sseState is struct state of testdata/sse_native.c.
type sseState struct {
	XMM   [4][2]uint64
	MM    [2]uint64
	GPR   [6]uint64
	Flags uint64
	MXCSR uint32
	// Signal is the number of the signal that the instruction gave, or 0.
	Signal uint32
	Tags   uint16
	Status uint16
	_      [2]uint16
	Mem    [8]uint64
}

const sseStateSize = int(unsafe.Sizeof(sseState{}))

// sseRegs are the general registers in sseState.GPR.
var sseRegs = [6]uint8{RAX, RCX, RDX, RBX, RSI, RDI}

const (
	sseCode = 0x20000000
	sseData = 0x20010000
)

// A sseCase is one encoding of a form and the states to run it from.
type sseCase struct {
	f    *form
	code []byte
	in   []sseState
}

func (s *sseCase) String() string {
	return fmt.Sprintf("%s (%s; % x)", s.f.mnem, s.f.enc, s.code)
}

// TestSSEAgainstProcessor executes every form that has XMM or MM operands here
// and on the real processor, in register and memory variants, and compares
// everything. RACESIM_SSE_STATES=N sets how many states each variant starts
// from.
func TestSSEAgainstProcessor(t *testing.T) {
	features := processorFeatures(t)
	prog := buildNativeSSE(t)
	states := 48
	if testing.Short() {
		states = 8
	}
	if s := os.Getenv("RACESIM_SSE_STATES"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("RACESIM_SSE_STATES=%q: want a number", s)
		}
		states = n
	}
	rng := rand.New(rand.NewPCG(1, uint64(states)))
	var cases []*sseCase
	forms, variants := 0, 0
	for i := range tables {
		f, err := parseRow(&tables[i])
		if err != nil {
			t.Fatal(err)
		}
		if !isSSE(f) || !features.have(f) {
			continue
		}
		if !intelHost() && elsewhere[f.mnem] != "" {
			t.Logf("%s %s isn't compared: %s", f.enc, f.mnem, elsewhere[f.mnem])
			continue
		}
		forms++
		for _, code := range encodings(f, rng, states) {
			n := states
			if slices.Contains(f.imms, "ib") {
				n = max(4, states/4)
			} else if hasMXCSR(f) {
				n = 8 * states
			}
			c := &sseCase{f: f, code: code, in: make([]sseState, n)}
			for j := range c.in {
				sseInput(&c.in[j], f, rng, j)
			}
			cases = append(cases, c)
			variants++
		}
	}
	total := 0
	failed := map[string]int{}
	emu := &sseEmulator{blocks: NewBlockCache()}
	for batch := range slices.Chunk(cases, 400) {
		out := runNativeSSE(t, prog, batch)
		for _, c := range batch {
			for j := range c.in {
				var want sseState
				want, out = out[0], out[1:]
				total++
				got := c.in[j]
				emu.step(c.code, &got, j)
				diff := compareSSE(c.f, &got, &want)
				if diff == "" {
					continue
				}
				if failed[c.f.mnem]++; failed[c.f.mnem] <= 3 {
					t.Errorf("%v: from\n%v\nwrong %s; emulated\n%v\nprocessor\n%v", c, &c.in[j], diff, &got, &want)
				}
			}
		}
	}
	for m, n := range failed {
		t.Errorf("%s: %d wrong", m, n)
	}
	t.Logf("%d forms, %d variants, %d executions", forms, variants, total)
	if forms < 350 {
		t.Errorf("only %d forms tested", forms)
	}
}

func (s *sseState) String() string {
	var b strings.Builder
	for i, x := range s.XMM {
		fmt.Fprintf(&b, "  xmm%d %016x:%016x", i, x[1], x[0])
	}
	fmt.Fprintf(&b, "\n  mm %x gpr %x flags %x mxcsr %x signal %d tags %x status %x\n  mem %016x",
		s.MM, s.GPR, s.Flags, s.MXCSR, s.Signal, s.Tags, s.Status, s.Mem)
	return b.String()
}

// isSSE says whether the harness can run f.
func isSSE(f *form) bool {
	if strings.HasPrefix(f.mnem, "fx") || f.vex {
		return false // operands too large; see TestFxsave, TestFormsMatchProcessor
	}
	if slices.Contains([]string{"ldmxcsr", "stmxcsr", "movnti", "emms"}, f.mnem) {
		return true
	}
	return slices.ContainsFunc(f.args, func(o operand) bool { return o.class == classXMM || o.class == classMM })
}

func hasMXCSR(f *form) bool {
	return slices.ContainsFunc(f.args, func(o operand) bool { return o.kind == "mxcsr" })
}

type featureSet struct {
	flags map[string]bool
	intel bool
}

// processorFeatures reads what the host has.
func processorFeatures(t *testing.T) featureSet {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skipf("host's features unknown: %v", err)
	}
	s := featureSet{flags: map[string]bool{}, intel: bytes.Contains(b, []byte("GenuineIntel"))}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "flags"); ok {
			for _, f := range strings.Fields(rest) {
				s.flags[f] = true
			}
			break
		}
	}
	return s
}

func (s featureSet) have(f *form) bool {
	if (strings.HasPrefix(f.mnem, "rcp") || strings.HasPrefix(f.mnem, "rsqrt")) && !s.intel {
		return false // approximations differ by maker
	}
	name, ok := map[string]string{"sse3": "pni", "sse41": "sse4_1", "sse42": "sse4_2", "pclmul": "pclmulqdq", "sha": "sha_ni", "lzcnt": "abm"}[f.cpu]
	if !ok {
		name = f.cpu
	}
	return name == "" || s.flags[name]
}

func buildNativeSSE(t *testing.T) string {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	prog := filepath.Join(t.TempDir(), "sse_native")
	out, err := exec.Command(gcc, "-O1", "-no-pie", "-o", prog, "testdata/sse_native.c").CombinedOutput()
	if err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return prog
}

func runNativeSSE(t *testing.T, prog string, cases []*sseCase) []sseState {
	var in bytes.Buffer
	n := 0
	for _, c := range cases {
		var head [24]byte
		putLE32(head[0:], uint32(len(c.in)))
		putLE32(head[4:], uint32(len(c.code)))
		copy(head[8:], c.code)
		in.Write(head[:])
		in.Write(unsafe.Slice((*byte)(unsafe.Pointer(&c.in[0])), len(c.in)*sseStateSize))
		n += len(c.in)
	}
	cmd := exec.Command(prog)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil || len(out) != n*sseStateSize {
		t.Fatalf("%s: %v, %d bytes of output, want %d", prog, err, len(out), n*sseStateSize)
	}
	return unsafe.Slice((*sseState)(unsafe.Pointer(&out[0])), n)
}

// encodings returns the variants of f: two registers, the same register twice,
// and memory at [rsi] as far as f has them, with and without REX.W where that
// matters, with several immediates.
func encodings(f *form, rng *rand.Rand, states int) [][]byte {
	var mods []byte
	reg := byte(1)
	if f.digit >= 0 {
		reg = byte(f.digit)
	}
	if f.modrm {
		if f.mod != modMem {
			mods = append(mods, 0xc0|reg<<3|2)
			if f.rmKind >= 0 && f.regKind >= 0 && f.args[f.rmKind].class == f.args[f.regKind].class && f.args[f.rmKind].class != classMM {
				mods = append(mods, 0xc0|reg<<3|1)
			}
			if f.rmKind >= 0 && f.args[f.rmKind].class == classMM || f.digit >= 0 {
				mods = []byte{0xc0 | reg<<3 | 1}
			}
		}
		if f.mod != modReg {
			mods = append(mods, reg<<3|6)
		}
	}
	// MM registers 0 and 1 alone are in sseState.
	if f.regKind >= 0 && f.args[f.regKind].class == classMM {
		for i := range mods {
			mods[i] &^= 7 << 3
		}
	}
	widths := []byte{0}
	switch {
	case f.w == 1:
		widths = []byte{0x48}
	case f.y || f.mnem == "pcmpestri" || f.mnem == "pcmpestrm":
		widths = []byte{0, 0x48}
	}
	imms := 1
	if slices.Contains(f.imms, "ib") {
		imms = 16
		if f.mnem[0:2] == "pc" { // string comparisons: each immediate is an instruction of its own
			imms = 64
		}
		if states > 100 {
			imms = 256
		}
	}
	var all [][]byte
	for _, w := range widths {
		if !f.modrm {
			all = append(all, f.encode(w, nil))
		}
		for _, m := range mods {
			for i := range imms {
				c := f.encode(w, []byte{m})
				if len(f.imms) > 0 {
					imm := byte(rng.Uint32())
					if imms == 256 {
						imm = byte(i)
					} else if i%2 == 0 {
						imm &= 15
					}
					c = append(c, imm)
				}
				all = append(all, c)
			}
		}
	}
	return all
}

// encode returns prefix, REX, opcode and modrm.
func (f *form) encode(rex byte, modrm []byte) []byte {
	var c []byte
	switch f.prefix {
	case prefix66:
		c = append(c, 0x66)
	case prefixF3:
		c = append(c, 0xf3)
	case prefixF2:
		c = append(c, 0xf2)
	}
	if rex != 0 {
		c = append(c, rex)
	}
	switch f.opmap {
	case 1:
		c = append(c, 0x0f)
	case 2:
		c = append(c, 0x0f, 0x38)
	case 3:
		c = append(c, 0x0f, 0x3a)
	}
	c = append(c, f.opcode)
	return append(c, modrm...)
}

// An sseEmulator executes single instructions: every other one by its handler
// alone, the others in a block by the run loop, which has cases of its own for
// some; and with and without tags for the data line in the window.
type sseEmulator struct {
	blocks *BlockCache
	code   []byte // of which blocks has a block
}

func (e *sseEmulator) step(code []byte, s *sseState, n int) {
	c := &CPU{Win: new(hwmodel.Window), Blocks: e.blocks, RIP: sseCode}
	c.Win.Clear()
	m := &sseMemory{code: append(slices.Clip(code), 0xeb, 0), data: &s.Mem} // JMP ends the block
	c.Mem = m
	if n&1 == 0 {
		c.Win.Allow(sseData>>lineShift, unsafe.Pointer(&s.Mem), true)
	}
	c.R[RSP] = 0x1000
	for i, r := range sseRegs {
		c.R[r] = s.GPR[i]
	}
	copy(c.X[:], s.XMM[:])
	c.MXCSR = s.MXCSR
	c.SetFlags(s.Flags)
	c.F.Init()
	c.F.SetStatusWord(s.Status)
	c.F.Full = uint8(s.Tags)
	c.F.R[0].Man, c.F.R[1].Man = s.MM[0], s.MM[1]
	var stop Stop
	if n&2 == 0 {
		stop = c.guard(func() Stop {
			op, _ := c.decodeAt(sseCode)
			op.fn(c, &op)
			return Stop{Kind: StopLimit}
		})
	} else {
		if !bytes.Equal(e.code, code) {
			e.code = code
			e.blocks.InvalidateAll()
		}
		stop = c.Run(2)
	}
	switch stop.Kind {
	case StopLimit:
	case StopFault:
		s.Signal = map[uint8]uint32{VecXM: 8, VecGP: 11, VecPF: 11, VecUD: 4}[stop.Vector]
	default:
		s.Signal = 1000 + uint32(stop.Kind)
	}
	if s.Signal != 0 && c.RIP != sseCode {
		s.Signal += 2000
	}
	for i, r := range sseRegs {
		s.GPR[i] = c.R[r]
	}
	copy(s.XMM[:], c.X[:])
	s.MXCSR = c.MXCSR
	s.Flags = c.Flags()
	s.Status = c.F.StatusWord()
	s.Tags = uint16(c.F.Full)
	s.MM = [2]uint64{c.F.R[0].Man, c.F.R[1].Man}
}

// sseMemory has one data line.
type sseMemory struct {
	code []byte
	data *[8]uint64
}

func (m *sseMemory) Line(c *CPU, line uint64, write bool) unsafe.Pointer {
	if line != sseData>>lineShift {
		Raise(&Stop{Kind: StopFault, Vector: VecPF, Addr: line << lineShift})
	}
	return unsafe.Pointer(m.data)
}

func (m *sseMemory) Code(c *CPU, pc uint64) []byte {
	return m.code[min(pc-sseCode, uint64(len(m.code))):]
}

// compareSSE names the part of the state that differs.
func compareSSE(f *form, got, want *sseState) string {
	undef := f.flags.undef
	var d []string
	add := func(differs bool, name string) {
		if differs {
			d = append(d, name)
		}
	}
	for i := range got.XMM {
		add(got.XMM[i] != want.XMM[i], "xmm"+strconv.Itoa(i))
	}
	add(got.MM != want.MM, "mm")
	add(got.GPR != want.GPR, "gpr")
	add((got.Flags^want.Flags)&arithFlags&^undef != 0, "flags")
	add(got.MXCSR != want.MXCSR, "mxcsr")
	add(got.Signal != want.Signal, "signal")
	add(got.Tags != want.Tags, "tags")
	add(got.Status != want.Status, "status")
	add(got.Mem != want.Mem, "mem")
	return strings.Join(d, ", ")
}
