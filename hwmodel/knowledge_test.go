package hwmodel

import (
	"math/rand"
	"testing"
)

func TestKnowledge(t *testing.T) {
	m := tiny(MESI, 1)
	t1, t2 := m.NewKnowledge(), m.NewKnowledge()
	l := new(Line)
	expect := func(when string, v1, v2 bool) {
		t.Helper()
		if t1.Known(9, l) != v1 || t2.Known(9, l) != v2 {
			t.Fatalf("%s: known %v %v, want %v %v", when, t1.Known(9, l), t2.Known(9, l), v1, v2)
		}
	}
	expect("new", false, false)
	t1.Learn(9, l)
	expect("1 learns", true, false)
	before := l.Version
	m.Claim(t1, 9, l)
	if l.Version != before {
		t.Error("the claim of the only knower changed the version")
	}
	t2.Learn(9, l)
	expect("2 learns", true, true)
	m.Claim(t1, 9, l)
	expect("1 claims", true, false)
	if t1.Known(10, l) {
		t.Error("known under a virtual line under which it wasn't learnt")
	}
	t1.Learn(10, l)
	m.Claim(t1, 10, l)
	expect("1 claims under another virtual line", false, false)
	m.Invalidate(l)
	if t1.Known(10, l) {
		t.Error("known after the kernel changed it")
	}
	t1.Learn(9, l)
	t2.Learn(9, l)
	t1.Forget()
	expect("1 forgets", false, true)
	t1.Learn(9, l)
	expect("1 learns again", true, true)
	m.Discard(l)
	expect("discarded", false, false)
	defer func() {
		if recover() == nil {
			t.Error("a claim without knowledge passes")
		}
	}()
	t2.Learn(9, l)
	t1.Learn(9, l)
	m.Claim(t1, 10, l)
}

// The table of pages, which grows, against a map.
func TestKnowledgeOfManyPages(t *testing.T) {
	m := tiny(MESI, 1)
	k := m.NewKnowledge()
	lines := map[uint64]*Line{}
	r := rand.New(rand.NewSource(1))
	for range 5000 {
		v := r.Uint64() >> 22
		if r.Intn(2) == 0 {
			v = uint64(r.Intn(1 << 14))
		}
		if lines[v] == nil {
			lines[v] = new(Line)
			if k.Known(v, lines[v]) {
				t.Fatalf("%#x known before it was learnt", v)
			}
		}
		k.Learn(v, lines[v])
	}
	for v, l := range lines {
		if !k.Known(v, l) {
			t.Fatalf("%#x not known", v)
		}
	}
	k.Forget()
	changed := map[uint64]bool{}
	for v, l := range lines {
		if k.Known(v, l) {
			t.Fatalf("%#x known after all was forgotten", v)
		}
		if r.Intn(3) == 0 {
			m.Invalidate(l)
			changed[v] = true
		}
	}
	for v, l := range lines { // lines of a page are learnt again one by one
		if k.Forgot(v, l) == changed[v] {
			t.Fatalf("%#x, changed since: %v; forgotten: %v", v, changed[v], k.Forgot(v, l))
		}
		if r.Intn(2) == 0 {
			k.Learn(v, l)
			if !k.Known(v, l) {
				t.Fatalf("%#x not known after it was learnt again", v)
			}
		}
	}
}

func TestLineSetRanges(t *testing.T) {
	var s LineSet
	in := map[uint64]bool{}
	r := rand.New(rand.NewSource(2))
	for range 300 {
		first := uint64(r.Intn(1 << 14))
		for v := first; v < first+uint64(r.Intn(100)); v++ {
			if s.Add(v) == in[v] {
				t.Fatalf("Add(%d) is wrong about being new", v)
			}
			in[v] = true
		}
	}
	end, n := uint64(0), 0
	for i, x := range s.Ranges() {
		if x.N == 0 || i > 0 && x.First <= end {
			t.Fatalf("range %+v after one that ends at %d", x, end)
		}
		end = x.First + x.N
		for v := x.First; v < end; v++ {
			if !in[v] || !s.Has(v) {
				t.Fatalf("%d is not in the set", v)
			}
			n++
		}
	}
	if n != len(in) {
		t.Errorf("ranges have %d lines, want %d", n, len(in))
	}
}

func BenchmarkAccessHit(b *testing.B) {
	m := New(DefaultConfig(4))
	lines := make([]Line, 512)
	for i := 0; b.Loop(); i++ {
		m.Access(0, &lines[i&511], uint64(i&511), i&1 == 0)
	}
}

func BenchmarkAccessMiss(b *testing.B) {
	m := New(DefaultConfig(4))
	lines := make([]Line, 1<<16)
	for i := 0; b.Loop(); i++ {
		m.Access(0, &lines[i&(1<<16-1)], uint64(i&(1<<16-1)), i&1 == 0)
	}
}

func BenchmarkAccessPingPong(b *testing.B) {
	m := New(DefaultConfig(4))
	lines := make([]Line, 64)
	for i := 0; b.Loop(); i++ {
		m.Access(i&3, &lines[i>>2&63], uint64(i>>2&63), true)
	}
}

// BenchmarkSlowPath is all that a recorder does when a window doesn't answer
// and the line is known.
func BenchmarkSlowPath(b *testing.B) {
	m := New(DefaultConfig(4))
	k := m.NewKnowledge()
	lines := make([]Line, 4096)
	for i := 0; b.Loop(); i++ {
		l, v := &lines[i*7&4095], uint64(i*7&4095)
		write := i&1 == 0
		may := m.Access(0, l, v, write)
		if !k.Known(v, l) {
			k.Learn(v, l)
		}
		if write {
			m.Claim(k, v, l)
		}
		l.Touch(1, v, write)
		m.Window(0).Allow(v, nil, write && may)
	}
}
