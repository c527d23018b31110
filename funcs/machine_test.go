package funcs

import (
	"debug/elf"
	"io"
	"testing"
	"unsafe"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/hwmodel"
)

// A machine runs functions of a program that needs no operating system. Its
// window stays empty, so that a Watcher sees everything.
type machine struct {
	t     *testing.T
	ms    *Modules
	calls *Tracker
	c     *x86.CPU
	pages map[uint64]*[4096]byte
}

const (
	returnTo = 0x1234000 // where functions that the test calls return to
	stackTop = 0x7ffffff000
)

func newMachine(t *testing.T, src string, flags ...string) *machine {
	flags = append(flags, "-g", "-static", "-nostdlib", "-fno-stack-protector", "-no-pie", "-fcf-protection=none")
	ms := load(t, build(t, src, flags...), noDebug)
	m := &machine{t: t, ms: ms, pages: map[uint64]*[4096]byte{}}
	for _, p := range ms.All()[0].obj.f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		b, err := io.ReadAll(p.Open())
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range b {
			m.byte(p.Vaddr + uint64(i))[0] = x
		}
	}
	m.c = &x86.CPU{Win: new(hwmodel.Window), Mem: m, Env: m, Blocks: x86.NewBlockCache()}
	m.c.Win.Clear()
	m.calls = NewTracker(NewTree(ms), 1, nil)
	m.calls.Start(returnTo, 0)
	m.c.Calls = m.calls
	m.c.Blocks.Break(returnTo)
	m.byte(returnTo)[0] = 0x90
	return m
}

func (m *machine) byte(a uint64) []byte {
	p := m.pages[a>>12]
	if p == nil {
		p = new([4096]byte)
		m.pages[a>>12] = p
	}
	return p[a&4095:]
}

func (m *machine) Line(c *x86.CPU, line uint64, write bool) unsafe.Pointer {
	return unsafe.Pointer(&m.byte(line << 6)[0])
}
func (m *machine) Code(c *x86.CPU, pc uint64) []byte                           { return m.byte(pc) }
func (m *machine) Orderable(c *x86.CPU, addr uint64, size int)                 {}
func (m *machine) Nondet(c *x86.CPU, what x86.NondetKind, dst uint8, size int) {}

func (m *machine) set(name string, off int, v uint64, size int) {
	a := uint64(symbol(m.t, m.ms, name)) + uint64(off)
	for i := 0; i < size; i++ {
		m.byte(a + uint64(i))[0] = byte(v >> (8 * i))
	}
}

func (m *machine) addr(name string) uint64 { return uint64(symbol(m.t, m.ms, name)) }

// record calls a function and returns its instance.
func (m *machine) record(r *Recorder, name string, args ...uint64) *Instance {
	m.t.Helper()
	entry := uint64(m.ms.FuncsNamed(name)[0].Entry)
	for i, a := range args {
		m.c.R[[]int{7, 6, 2, 1}[i]] = a
	}
	m.c.R[4] = stackTop - 256 - 8
	for i := range uint64(8) {
		m.byte(m.c.R[4] + i)[0] = byte(uint64(returnTo) >> (8 * i))
	}
	m.calls.Call(m.c, returnTo-5, entry, m.c.R[4])
	m.c.RIP = entry
	r.Begin(m.c)
	m.c.Watch = r
	if s := m.c.Run(100000); s.Kind != x86.StopBreak || m.c.RIP != returnTo {
		m.t.Fatalf("%s stopped: %v %v at 0x%x", name, s.Kind, s.Err, m.c.RIP)
	}
	m.c.Watch = nil
	inst := r.End(m.c, emulate.Count(m.c.Count), true)
	if inst.Func == nil || inst.Func.Name != name || m.calls.Depth() != 1 {
		m.t.Errorf("instance of %v at depth %d, want %s", inst.Func, m.calls.Depth(), name)
	}
	return inst
}

// onEnter records the instances of watched functions, and hands every access
// on to the recorder of the function around.
type onEnter struct {
	r    *Recorder
	next *Recorder
	got  []*Instance
}

func (o *onEnter) Enter(t *Tracker, c *x86.CPU) {
	o.r.BeginAtCall(c)
	c.Watch = o
}

func (o *onEnter) Leave(t *Tracker, c *x86.CPU, n emulate.Count, returned bool) {
	o.got = append(o.got, o.r.End(c, n, returned))
	c.Watch = o.next
}

func (o *onEnter) Load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) uint64 {
	o.next.Load(c, addr, size, kind, v)
	return o.r.Load(c, addr, size, kind, v)
}

func (o *onEnter) Store(c *x86.CPU, addr uint64, size int, v uint64) {
	o.next.Store(c, addr, size, v)
	o.r.Store(c, addr, size, v)
}
