package funcs

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate"
)

// show lists values as name=value, sorted.
func show(vs []Value) string {
	var out []string
	for _, v := range vs {
		out = append(out, v.Name+"="+v.String())
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}

func TestInputsAndOutputs(t *testing.T) {
	for _, opt := range []string{"-O0", "-O1", "-O2"} {
		m := newMachine(t, "instance.c", opt)
		r := NewRecorder(m.calls)
		acct := m.addr("accounts") + 24 // accounts[1]
		m.set("accounts", 24+8, 100, 4)
		m.set("accounts", 24+12, 500, 4)
		m.set("total", 0, 7, 4)
		m.set("accounts", 48+16, acct, 8)
		m.set("accounts", 24, 42, 8)
		heap := uint64(0x5000000)
		m.byte(heap + 8)[0] = 9

		check := func(inst *Instance, in, out string) {
			t.Helper()
			name := inst.Func.Name
			if got := show(inst.Inputs); got != in {
				t.Errorf("%s %s: inputs\n got %s\nwant %s", opt, name, got, in)
			}
			if got := show(inst.Outputs); got != out {
				t.Errorf("%s %s: outputs\n got %s\nwant %s", opt, name, got, out)
			}
		}
		p := func(a uint64) string { return fmt.Sprintf("0x%x", a) }
		check(m.record(r, "deposit", acct, 5),
			"accounts[1].balance=100 acct="+p(acct)+" amount=5 total=7",
			"accounts[1].balance=105 ret=105 total=12")
		check(m.record(r, "deposit", heap, 5),
			"acct->balance=9 acct="+p(heap)+" amount=5 total=12",
			"acct->balance=14 ret=14 total=17")
		check(m.record(r, "reset"), "", "log_pos=1 total=0")
		m.c.X[0][0] = math.Float64bits(2)
		check(m.record(r, "interest", acct),
			"accounts[1].balance=105 acct="+p(acct)+" rate=1.5 years=2", "ret=315")
		check(m.record(r, "follow"),
			"accounts[1].id=42 accounts[2].next="+p(acct)+" head="+p(acct+24), "ret=42")
		check(m.record(r, "twice", acct),
			"accounts[1].balance=105 accounts[1].limit=500 acct="+p(acct)+" total=0",
			"accounts[1].balance=108 ret=608 total=3")
		check(m.record(r, "caller", 3), "v=3", "ret=4")

		inst := m.record(r, "scratch", 4)
		check(inst, "n=4", "ret=4")
		if len(inst.Uninit) != 1 || inst.Uninit[0].Size != 4 {
			t.Errorf("%s: uninitialised reads %s", opt, show(inst.Uninit))
		}
		// The heap's own pointer chain.
		m.set("head", 0, heap, 8)
		for i := range uint64(8) {
			m.byte(heap + 16 + i)[0] = byte((heap + 0x10000) >> (8 * i))
		}
		m.byte(heap + 0x10000)[0] = 77
		check(m.record(r, "follow"),
			"head->next->id=77 head->next="+p(heap+0x10000)+" head="+p(heap), "ret=77")
	}
}

func TestOutputsInTheCallersFrame(t *testing.T) {
	m := newMachine(t, "instance.c", "-O0")
	rec := &onEnter{r: NewRecorder(m.calls)}
	m.calls.Watch([]emulate.Addr{m.ms.FuncsNamed("set")[0].Entry}, rec)
	outer := NewRecorder(m.calls)
	rec.next = outer
	m.record(outer, "caller", 3)
	if len(rec.got) != 1 {
		t.Fatalf("%d instances", len(rec.got))
	}
	if got := show(rec.got[0].Outputs); got != "*where=4" {
		t.Errorf("outputs of set: %s", got)
	}
}

func TestSectionsFollowTheLoop(t *testing.T) {
	for _, opt := range []string{"-O0", "-O1"} {
		m := newMachine(t, "instance.c", opt)
		r := NewRecorder(m.calls)
		r.Split = true
		for i := range uint64(5) {
			m.byte(0x5000000 + 4*i)[0] = byte(i + 1)
		}
		inst := m.record(r, "sum", 0x5000000, 5)
		if n := len(inst.Sections); n != 5 && n != 6 {
			t.Fatalf("%s: %d sections, want one per iteration", opt, n)
		}
		iter := 0
		for i, s := range inst.Sections {
			if i > 0 && s.Start != inst.Sections[i-1].End || s.End <= s.Start {
				t.Errorf("%s: section %d is %d to %d", opt, i, s.Start, s.End)
			}
			if i > 1 && s.Head != inst.Sections[1].Head {
				t.Errorf("%s: section %d begins at %v", opt, i, s.Head)
			}
			for _, e := range s.Footprint.outputs() {
				if e.addr == m.addr("total") {
					iter++
				}
			}
		}
		if iter != 5 {
			t.Errorf("%s: total is an output of %d sections", opt, iter)
		}
		if got := show(inst.Outputs); got != "ret=15 total=15" {
			t.Errorf("%s: outputs of all sections: %s", opt, got)
		}
		if got := show(inst.Inputs); !strings.Contains(got, "*v=1") || !strings.Contains(got, "v[4]=5") {
			t.Errorf("%s: inputs of all sections: %s", opt, got)
		}
	}
}

func TestForeignWritesAreChanges(t *testing.T) {
	f := newFootprint()
	f.store(0x1000, 4, 5, false, 1, 0x10)
	f.load(0x1000, 4, 5, false, false, 2, 0x20)
	f.load(0x1000, 4, 0x105, false, false, 3, 0x30)
	f.load(0x1000, 4, 0x105, false, false, 4, 0x30)
	if len(f.Changes) != 1 || f.Changes[0].Expected != 5 || f.Changes[0].Found != 0x105 || f.Changes[0].Count != 3 {
		t.Errorf("changes: %+v", f.Changes)
	}
	if len(f.inputs()) != 0 {
		t.Errorf("inputs: %+v", f.inputs())
	}
}

func TestFootprintsCompose(t *testing.T) {
	a, b := newFootprint(), newFootprint()
	a.load(0x1000, 8, 1, false, false, 1, 0x10)
	a.store(0x2000, 4, 2, false, 2, 0x20)
	b.load(0x2000, 8, 0x300000002, false, false, 3, 0x30)
	b.load(0x1000, 8, 1, false, false, 4, 0x30)
	b.store(0x1000, 1, 9, false, 5, 0x40)
	s := Compose(a, b)
	var in, out []string
	for _, e := range s.inputs() {
		in = append(in, fmt.Sprintf("%x:%x@%d", e.addr, e.bytes, e.at.count))
	}
	for _, e := range s.outputs() {
		out = append(out, fmt.Sprintf("%x:%x@%d", e.addr, e.bytes, e.at.count))
	}
	if got := fmt.Sprint(in, out); got != "[1000:0100000000000000@1 2004:03000000@3] [1000:09@5 2000:02000000@2]" {
		t.Errorf("composed: %s", got)
	}
}

func TestFreedMemoryIsNoOutput(t *testing.T) {
	f := newFootprint()
	f.allocate(0x1000, 32, false)
	f.store(0x1000, 8, 5, false, 1, 0)
	f.load(0x1008, 8, 0, false, false, 2, 0)
	f.allocate(0x3000, 8, true)
	f.load(0x3000, 8, 0, false, false, 3, 0)
	if len(f.inputs()) != 0 || len(f.uninitialised()) != 1 || len(f.outputs()) != 1 {
		t.Errorf("in %v, uninitialised %v, out %v", f.inputs(), f.uninitialised(), f.outputs())
	}
	f.kill(0x1000, 32)
	if len(f.outputs()) != 0 {
		t.Errorf("a freed block is an output: %v", f.outputs())
	}
}
