package x86

import (
	"encoding/binary"
	"fmt"
	"testing"
)

const (
	codeBase = 0x400000
	dataBase = 0x600000
)

// machineWith returns a CPU about to execute code, with a page of data in RDI
// and a stack.
func machineWith(code ...byte) (*CPU, *flat, []byte) {
	c, m := newFlat()
	copy(m.add(codeBase, 0x2000, true), code)
	data := m.add(dataBase, 0x1000, true)
	m.add(stackTop-0x10000, 0x10000, true)
	c.RIP, c.R[RDI], c.R[RSP] = codeBase, dataBase, stackTop
	return c, m, data
}

func mustStop(t *testing.T, s Stop, kind StopKind) {
	t.Helper()
	if s.Kind != kind {
		t.Fatalf("stopped by %v (%+v), want %v", s.Kind, s, kind)
	}
}

func TestRunExecutesExactlyTheLimit(t *testing.T) {
	// 1: add $1, %rax; cmp $1000, %rax; jne 1b; syscall
	c, _, _ := machineWith(0x48, 0x83, 0xC0, 1, 0x48, 0x3D, 0xE8, 3, 0, 0, 0x75, 0xF4, 0x0F, 0x05)
	var want uint64
	for n := uint64(0); n < 40; n++ {
		mustStop(t, c.Run(n), StopLimit)
		want += n
		if c.Count != want || c.R[RAX] != (want+2)/3 {
			t.Fatalf("after %d instructions: Count %d, RAX %d", want, c.Count, c.R[RAX])
		}
	}
	mustStop(t, c.Run(1e6), StopSyscall)
	if c.Count != 3000 || c.RIP != codeBase+12 {
		t.Errorf("at the system call: Count %d, RIP %#x", c.Count, c.RIP)
	}
	mustStop(t, c.Run(1), StopSyscall)
}

func TestBreakStopsOncePerArrival(t *testing.T) {
	// 1: add $1, %rax; inc %ecx; jmp 1b
	c, _, _ := machineWith(0x48, 0x83, 0xC0, 1, 0xFF, 0xC1, 0xEB, 0xF8)
	mustStop(t, c.Run(10), StopLimit)
	c.Blocks.Break(codeBase + 4)
	for i := range uint64(5) {
		mustStop(t, c.Run(100), StopBreak)
		if c.RIP != codeBase+4 || c.Count != 10+3*i {
			t.Fatalf("break %d: RIP %#x, Count %d", i, c.RIP, c.Count)
		}
	}
	mustStop(t, c.Run(3), StopLimit) // arrives exactly
	mustStop(t, c.Run(1), StopBreak)
	c.Blocks.Unbreak(codeBase + 4)
	mustStop(t, c.Run(1000), StopLimit)
}

func TestCodeThatChangesItselfIsSeen(t *testing.T) {
	// movb $0x41, 2(%rip), which changes the immediate of the next;
	// add $1, %eax; jmp .
	for _, limit := range []uint64{1, 100} {
		c, m, _ := machineWith(0xC6, 0x05, 2, 0, 0, 0, 0x41, 0x83, 0xC0, 1, 0xEB, 0xFE)
		m.invalids = c.Blocks
		for c.Count < 100 {
			mustStop(t, c.Run(limit), StopLimit)
		}
		if c.R[RAX] != 0x41 {
			t.Errorf("limit %d: RAX %#x, want 0x41", limit, c.R[RAX])
		}
	}
}

func TestFaultsAreExact(t *testing.T) {
	cases := []struct {
		name string
		code []byte
		want Stop
		rip  uint64
		n    uint64
	}{
		{"load", []byte{0x90, 0x8B, 0x87, 0, 0x10, 0, 0}, Stop{Kind: StopFault, Vector: VecPF, Addr: dataBase + 0x1000, Code: 4}, 1, 1},
		{"load across the end", []byte{0x90, 0x48, 0x8B, 0x87, 0xFD, 0x0F, 0, 0}, Stop{Kind: StopFault, Vector: VecPF, Addr: dataBase + 0x1000, Code: 4}, 1, 1},
		{"exact byte", []byte{0x8A, 0x87, 7, 0x20, 0, 0}, Stop{Kind: StopFault, Vector: VecPF, Addr: dataBase + 0x2007, Code: 4}, 0, 0},
		{"store", []byte{0x90, 0x90, 0x89, 0x87, 0, 0x20, 0, 0}, Stop{Kind: StopFault, Vector: VecPF, Addr: dataBase + 0x2000, Code: 6}, 2, 2},
		{"not an address", []byte{0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x8B, 0x00}, Stop{Kind: StopFault, Vector: VecGP}, 10, 1},
		{"division by zero", []byte{0x31, 0xC9, 0xF7, 0xF1}, Stop{Kind: StopFault, Vector: VecDE}, 2, 1},
		{"ud2", []byte{0x90, 0x0F, 0x0B}, Stop{Kind: StopFault, Vector: VecUD}, 1, 1},
		{"hlt", []byte{0xF4}, Stop{Kind: StopFault, Vector: VecGP}, 0, 0},
		{"int3", []byte{0xCC}, Stop{Kind: StopFault, Vector: VecBP}, 0, 0},
		{"LOCK of a register", []byte{0xF0, 0x01, 0xC0}, Stop{Kind: StopFault, Vector: VecUD}, 0, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c, _, _ := machineWith(tc.code...)
			c.SetFlags(CF | ZF)
			s := c.Run(100)
			if s.Kind != tc.want.Kind || s.Vector != tc.want.Vector || s.Addr != tc.want.Addr || s.Code != tc.want.Code {
				t.Errorf("%+v, want %+v", s, tc.want)
			}
			if c.RIP != codeBase+tc.rip || c.Count != tc.n {
				t.Errorf("RIP %#x, Count %d", c.RIP, c.Count)
			}
		})
	}
}

func TestFetchFaults(t *testing.T) {
	c, _, _ := machineWith(0xE9, 0xFB, 0x0F, 0x10, 0) // jmp out of everything
	s := c.Run(100)
	if s.Kind != StopFault || s.Vector != VecPF || s.Addr != codeBase+0x101000 || s.Code&0x10 == 0 || c.RIP != s.Addr || c.Count != 1 {
		t.Errorf("%+v at %#x after %d", s, c.RIP, c.Count)
	}
	c, m, _ := machineWith()
	copy(m.regions[0].b[0x1FFD:], []byte{0x90, 0x48, 0x8B}) // an instruction reaching into nothing
	c.RIP = codeBase + 0x1FFD
	s = c.Run(100)
	if s.Kind != StopFault || s.Vector != VecPF || s.Addr != codeBase+0x2000 || c.RIP != codeBase+0x1FFE || c.Count != 1 {
		t.Errorf("%+v at %#x after %d", s, c.RIP, c.Count)
	}
}

func TestStoreAcrossAFaultChangesNothing(t *testing.T) {
	c, _, data := machineWith(0x48, 0x89, 0x87, 0xFC, 0x0F, 0, 0) // mov %rax, 0xffc(%rdi)
	c.R[RAX] = ^uint64(0)
	mustStop(t, c.Run(1), StopFault)
	for i, b := range data {
		if b != 0 {
			t.Fatalf("byte %#x changed", i)
		}
	}
}

func TestUnsupportedInstructionNamesItsBytes(t *testing.T) {
	c, _, _ := machineWith(0x90, 0x62, 0xF1, 0x7C, 0x48, 0x28, 0xC1) // vmovaps %zmm1, %zmm0
	s := c.Run(10)
	mustStop(t, s, StopFault)
	if s.Vector != VecUD || !s.Unsupported() || s.Bytes[0] != 0x62 || c.RIP != codeBase+1 || c.Count != 1 {
		t.Errorf("%+v at %#x after %d", s, c.RIP, c.Count)
	}
}

func TestSplitLetsOthersInBetween(t *testing.T) {
	c, _, data := machineWith(0x90, 0x01, 0x07, 0x90) // nop; add %eax, (%rdi); nop
	binary.LittleEndian.PutUint32(data, 10)
	c.R[RAX] = 5
	if c.CanSplit() {
		t.Error("a nop can be split")
	}
	c.Run(1)
	if !c.CanSplit() {
		t.Fatal("can't be split")
	}
	mustStop(t, c.RunSplit(), StopLimit)
	if c.Count != 1 || c.RIP != codeBase+1 || c.Pending() != (Pending{10, 4}) || c.CanSplit() {
		t.Fatalf("after the load half: Count %d, RIP %#x, pending %+v", c.Count, c.RIP, c.Pending())
	}
	binary.LittleEndian.PutUint32(data, 100)
	saved := c.State()
	mustStop(t, c.FinishSplit(), StopLimit)
	if got := binary.LittleEndian.Uint32(data); got != 15 || c.Count != 2 || c.RIP != codeBase+3 || c.Pending().Size != 0 {
		t.Errorf("after the store half: memory %d, Count %d, RIP %#x", got, c.Count, c.RIP)
	}
	c.SetState(saved)
	c.Count = 1
	mustStop(t, c.Run(2), StopLimit)
	if c.Count != 3 || c.RIP != codeBase+4 {
		t.Errorf("Run over the store half: Count %d, RIP %#x", c.Count, c.RIP)
	}
	for _, code := range [][]byte{{0xF0, 0x01, 0x07}, {0x87, 0x07}, {0x39, 0x07}, {0x89, 0x07}, {0x03, 0x07}} {
		if c, _, _ := machineWith(code...); c.CanSplit() {
			t.Errorf("% x can be split", code)
		}
	}
	for _, code := range [][]byte{{0xFF, 0x07}, {0x0F, 0xC1, 0x07}, {0x0F, 0xB1, 0x07}, {0xD1, 0x27}, {0x0F, 0xAB, 0x07}, {0xF7, 0x17}} {
		if c, _, _ := machineWith(code...); !c.CanSplit() {
			t.Errorf("% x can't be split", code)
		}
	}
}

func TestRepCanStopBetweenIterations(t *testing.T) {
	c, _, data := machineWith(0xF3, 0xAA, 0x90) // rep stosb; nop
	c.R[RAX], c.R[RCX] = 7, 100
	if !c.IsRep() {
		t.Fatal("not a repeated instruction")
	}
	s, done := c.RunRep(30)
	if s.Kind != StopLimit || done || c.R[RCX] != 70 || c.R[RDI] != dataBase+30 || c.Count != 0 || c.RIP != codeBase || data[29] != 7 || data[30] != 0 {
		t.Fatalf("%+v, done %v: RCX %d, Count %d, RIP %#x", s, done, c.R[RCX], c.Count, c.RIP)
	}
	s, done = c.RunRep(70)
	if s.Kind != StopLimit || !done || c.R[RCX] != 0 || c.Count != 1 || c.RIP != codeBase+2 || data[99] != 7 || data[100] != 0 {
		t.Fatalf("%+v, done %v: RCX %d, Count %d, RIP %#x", s, done, c.R[RCX], c.Count, c.RIP)
	}
	mustStop(t, c.Run(1), StopLimit)
}

func TestRepFaultKeepsWhatIsDone(t *testing.T) {
	c, _, _ := machineWith(0xF3, 0xAA)
	c.R[RDI], c.R[RCX] = dataBase+0xFF0, 100
	s := c.Run(1)
	if s.Kind != StopFault || s.Addr != dataBase+0x1000 || c.R[RCX] != 84 || c.R[RDI] != dataBase+0x1000 || c.RIP != codeBase {
		t.Errorf("%+v: RCX %d, RDI %#x", s, c.R[RCX], c.R[RDI])
	}
}

// watchLog is a Watcher that writes down what it sees and changes loads of 42.
type watchLog struct{ log []string }

func (w *watchLog) Load(c *CPU, addr uint64, size int, kind AccessKind, v uint64) uint64 {
	w.log = append(w.log, fmt.Sprintf("%d: %v %d at %#x: %d", c.InstrCount(), kind, size, addr-dataBase, v))
	if v == 42 {
		return 43
	}
	return v
}

func (w *watchLog) Store(c *CPU, addr uint64, size int, v uint64) {
	w.log = append(w.log, fmt.Sprintf("%d: write %d at %#x: %d", c.InstrCount(), size, addr-dataBase, v))
}

func TestWatcherSeesAccessesInOrder(t *testing.T) {
	c, m, data := machineWith(
		0x8B, 0x07, // mov (%rdi), %eax
		0x01, 0x47, 4, // add %eax, 4(%rdi)
		0xF0, 0xFF, 0x47, 4, // lock incl 4(%rdi)
		0x48, 0x89, 0x47, 0x3E, // mov %rax, 0x3e(%rdi)
		0x66, 0xA5, // movsw
	)
	m.noTags = true
	w := &watchLog{}
	c.Watch = w
	c.R[RSI] = dataBase
	data[0] = 42
	mustStop(t, c.Run(5), StopLimit)
	want := []string{
		"0: read 4 at 0x0: 42",
		"1: update 4 at 0x4: 0", "1: write 4 at 0x4: 43",
		"2: update 4 at 0x4: 43", "2: write 4 at 0x4: 44",
		"3: write 2 at 0x3e: 43", "3: write 6 at 0x40: 0",
		"4: read 2 at 0x0: 42", "4: write 2 at 0x0: 43",
	}
	if fmt.Sprint(w.log) != fmt.Sprint(want) {
		t.Errorf("saw\n%q, want\n%q", w.log, want)
	}
	if m.orders != 1 {
		t.Errorf("%d orderable events, want 1", m.orders)
	}
}

func TestOrderableMayYield(t *testing.T) {
	c, m, data := machineWith(0x90, 0xF0, 0xFF, 0x07, 0x87, 0x07, 0x0F, 0xAE, 0xF0) // nop; lock incl; xchg; mfence
	m.yieldAt = 1
	mustStop(t, c.Run(10), StopYield)
	if c.Count != 1 || c.RIP != codeBase+1 || data[0] != 0 || c.Atomic() {
		t.Errorf("Count %d, RIP %#x", c.Count, c.RIP)
	}
	mustStop(t, c.Run(3), StopLimit)
	if m.orders != 4 || c.R[RAX] != 1 || c.Atomic() {
		t.Errorf("%d orderable events, want 4 (one repeated); RAX %d", m.orders, c.R[RAX])
	}
}

type callLog struct{ log []string }

func (l *callLog) Call(c *CPU, site, target, sp uint64) {
	l.log = append(l.log, fmt.Sprintf("%d: call %#x to %#x sp -%#x", c.InstrCount(), site-codeBase, target-codeBase, stackTop-sp))
}

func (l *callLog) Ret(c *CPU, site, target, sp uint64) {
	l.log = append(l.log, fmt.Sprintf("%d: ret %#x to %#x sp -%#x", c.InstrCount(), site-codeBase, target-codeBase, stackTop-sp))
}

func TestCallSinkSeesCallsAndReturns(t *testing.T) {
	// call 1f; lea 1f(%rip), %rax; call *%rax; syscall; 1: ret
	code := []byte{0xE8, 0x0B, 0, 0, 0, 0x48, 0x8D, 0x05, 4, 0, 0, 0, 0xFF, 0xD0, 0x0F, 0x05, 0xC3}
	want := []string{
		"0: call 0x0 to 0x10 sp -0x8", "1: ret 0x10 to 0x5 sp -0x0",
		"3: call 0xc to 0x10 sp -0x8", "4: ret 0x10 to 0xe sp -0x0",
	}
	for _, limit := range []uint64{1, 1000} {
		c, _, _ := machineWith(code...)
		l := &callLog{}
		c.Calls = l
		for c.Run(limit).Kind == StopLimit {
		}
		if fmt.Sprint(l.log) != fmt.Sprint(want) {
			t.Errorf("limit %d: saw %q, want %q", limit, l.log, want)
		}
	}
}

func TestInvalidateForgetsLinkedBlocks(t *testing.T) {
	// 1: inc %eax; jmp 2f ... at the next page: 2: jmp 1b
	c, m, _ := machineWith(0xFF, 0xC0, 0xE9, 0xF9, 0x0F, 0, 0)
	copy(m.regions[0].b[0x1000:], []byte{0xE9, 0xFB, 0xEF, 0xFF, 0xFF})
	mustStop(t, c.Run(300), StopLimit)
	copy(m.regions[0].b[0x1000:], []byte{0x0F, 0x05})
	c.Blocks.Invalidate((codeBase + 0x1000) >> 12)
	mustStop(t, c.Run(300), StopSyscall)
	if c.RIP != codeBase+0x1000 {
		t.Errorf("RIP %#x", c.RIP)
	}
}
