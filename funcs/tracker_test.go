package funcs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
)

// A walker drives a Tracker as a CPU would.
type walker struct {
	t *testing.T
	*Tracker
	c *x86.CPU
}

func newWalker(t *testing.T, sink AllocSink) *walker {
	w := &walker{t, NewTracker(NewTree(nil), 1, sink), &x86.CPU{}}
	w.c.R[4] = 0x8000
	w.Start(0x1000, 0)
	return w
}

// call executes a call instruction at site (5 bytes) to target.
func (w *walker) call(site, target uint64) {
	w.c.R[4] -= 8
	w.c.RIP = site
	w.Call(w.c, site, target, w.c.R[4])
	w.c.Count++
}

// body moves the stack pointer, as a function's prologue does.
func (w *walker) body(n int64) { w.c.R[4] += uint64(n) }

// ret executes a return to target.
func (w *walker) ret(target uint64) {
	w.c.R[4] += 8
	w.Ret(w.c, 0, target, w.c.R[4])
	w.c.Count++
}

// path shows the call path's entries, outermost first.
func (w *walker) path() string {
	var s []string
	for id := w.Current(w.c); id != 0; id = w.tree.Node(id).Parent {
		s = append([]string{fmt.Sprintf("%x", uint64(w.tree.Node(id).Entry))}, s...)
	}
	return strings.Join(s, " ")
}

func (w *walker) want(path string) {
	w.t.Helper()
	if got := w.path(); got != path {
		w.t.Errorf("call path is %s, want %s", got, path)
	}
}

func TestTrackerFollowsCallsAndReturns(t *testing.T) {
	w := newWalker(t, nil)
	w.want("1000")
	w.call(0x1010, 0x2000)
	w.want("1000 2000")
	w.body(-32)
	w.call(0x2010, 0x3000)
	w.want("1000 2000 3000")
	a := w.Level(0)
	if a.Entry != 0x3000 || a.Site != 0x2010 || a.Count != 2 || a.SP != 0x7fd0 || w.Depth() != 3 {
		t.Errorf("innermost frame is %+v at depth %d", a, w.Depth())
	}
	w.ret(0x2015)
	w.body(32)
	w.ret(0x1015)
	w.want("1000")
	first := w.Node()
	w.call(0x1010, 0x2000)
	n := w.Node()
	w.ret(0x1015)
	w.call(0x1010, 0x2000)
	if w.Node() != n || first == n {
		t.Errorf("the same path has nodes %d and %d", n, w.Node())
	}
}

func TestTrackerSurvivesLongjmp(t *testing.T) {
	w := newWalker(t, nil)
	w.call(0x1010, 0x2000) // calls setjmp
	w.body(-16)
	saved := w.c.R[4]
	for i := uint64(0); i < 4; i++ {
		w.call(0x2010+0x1000*i, 0x3000+0x1000*i)
		w.body(-8)
	}
	w.want("1000 2000 3000 4000 5000 6000")
	w.c.R[4] = saved // longjmp: a plain jump
	w.want("1000 2000")
	w.call(0x2020, 0x7000)
	w.want("1000 2000 7000")
	w.ret(0x2025)
	w.body(16)
	w.ret(0x1015)
	w.want("1000")
	if w.Depth() != 1 {
		t.Errorf("depth %d", w.Depth())
	}
}

func TestTrackerSurvivesExceptions(t *testing.T) {
	w := newWalker(t, nil)
	w.call(0x1010, 0x2000) // has the handler
	w.body(-64)
	landing := w.c.R[4]
	w.call(0x2010, 0x3000)
	w.body(-16)
	w.call(0x3010, 0x4000) // _Unwind_RaiseException
	w.body(-512)
	w.call(0x4010, 0x5000)
	w.body(-8)
	w.body(8)
	// It installs a context with a return to the handler.
	w.c.R[4] = landing - 8
	w.ret(0x2040)
	w.want("1000 2000")
	w.call(0x2048, 0x6000)
	w.want("1000 2000 6000")
}

func TestTrackerSurvivesTailCalls(t *testing.T) {
	w := newWalker(t, nil)
	w.call(0x1010, 0x2000)
	w.body(-8)
	w.body(8)
	w.c.RIP = 0x3000 // jmp: nobody says so
	w.want("1000 2000")
	w.body(-24)
	w.call(0x3010, 0x4000)
	w.want("1000 2000 4000")
	w.ret(0x3015)
	w.body(24)
	w.ret(0x1015)
	w.want("1000")
	// And with a replayer that stops at the target.
	w.call(0x1010, 0x2000)
	w.c.RIP = 0x3000
	w.Enter(w.c)
	w.want("1000 2000 3000")
	w.Enter(w.c)
	if w.Depth() != 3 {
		t.Errorf("Enter after Enter: depth %d", w.Depth())
	}
	w.ret(0x1015)
	w.want("1000")
	w.call(0x1010, 0x3000)
	w.c.RIP = 0x3000
	w.Enter(w.c)
	w.want("1000 3000")
}

func TestTrackerSurvivesPushedReturns(t *testing.T) {
	w := newWalker(t, nil)
	w.call(0x1010, 0x2000)
	w.body(-32)
	w.body(-8) // push address
	w.ret(0x2050)
	w.want("1000 2000")
	w.call(0x2060, 0x2065) // call next; pop
	w.body(8)
	w.call(0x2070, 0x3000)
	w.want("1000 2000 3000")
}

func TestTrackerFollowsSignals(t *testing.T) {
	for _, alt := range []bool{false, true} {
		for _, jump := range []bool{false, true} {
			w := newWalker(t, nil)
			w.call(0x1010, 0x2000)
			w.body(-32)
			sp := w.c.R[4]
			w.c.R[4] = sp - 0x500
			if alt {
				w.c.R[4] = 0x20000 // above
			}
			w.Push(w.c, 0x2020, 0x9000, w.c.R[4])
			w.want("1000 2000 9000")
			if !w.Level(0).Signal {
				t.Errorf("the handler's frame isn't a signal's")
			}
			w.body(-16)
			w.call(0x9010, 0xa000)
			w.want("1000 2000 9000 a000")
			w.ret(0x9015)
			w.want("1000 2000 9000")
			if !jump {
				w.body(16)
				w.ret(0x7000) // the restorer, then rt_sigreturn
			}
			w.c.R[4] = sp
			if jump && alt {
				// siglongjmp from a stack above: healed by the next return.
				w.body(32)
				w.ret(0x1015)
				w.want("1000")
				continue
			}
			w.call(0x2030, 0x3000)
			w.want("1000 2000 3000")
			w.ret(0x2035)
			w.body(32)
			w.ret(0x1015)
			w.want("1000")
		}
	}
}

func TestTreeFoldsRecursion(t *testing.T) {
	w := newWalker(t, nil)
	w.c.R[4] = 0x7ffffff0
	for range 10000 {
		w.call(0x2010, 0x2000)
		w.body(-8)
	}
	if n := w.tree.Len(); n > 10 {
		t.Errorf("a recursion of 10000 calls made %d nodes", n)
	}
	if w.Depth() != 10001 {
		t.Errorf("depth %d", w.Depth())
	}
	// Twofold recursion, as in a tree walk.
	w = newWalker(t, nil)
	var walk func(n int)
	walk = func(n int) {
		if n == 0 {
			return
		}
		w.call(0x3010, 0x3000)
		w.body(-8)
		walk(n - 1)
		w.body(8)
		w.ret(0x3015)
		w.call(0x3020, 0x3000)
		w.body(-8)
		walk(n - 1)
		w.body(8)
		w.ret(0x3025)
	}
	walk(14)
	if n := w.tree.Len(); n > 1000 {
		t.Errorf("a recursion of 2^14 calls made %d nodes", n)
	}
}

func TestClonesAreIndependent(t *testing.T) {
	w := newWalker(t, nil)
	w.call(0x1010, 0x2000)
	c := &walker{t, w.Clone(), &x86.CPU{R: w.c.R}}
	w.ret(0x1015)
	w.want("1000")
	c.want("1000 2000")
	c.call(0x2010, 0x3000)
	c.want("1000 2000 3000")
}

type instances struct{ log []string }

func (i *instances) Enter(t *Tracker, c *x86.CPU) {
	i.log = append(i.log, fmt.Sprintf("enter %v at %d", t.Level(0).Entry, t.Level(0).Count))
}

func (i *instances) Leave(t *Tracker, c *x86.CPU, n emulate.Count, returned bool) {
	i.log = append(i.log, fmt.Sprintf("leave %v at %d %v", t.Level(0).Entry, n, returned))
}

func TestWatchedInstances(t *testing.T) {
	w := newWalker(t, nil)
	var log instances
	w.Watch([]emulate.Addr{0x2000}, &log)
	w.call(0x1010, 0x2000)
	w.ret(0x1015)
	w.call(0x1010, 0x3000)
	w.body(-16)
	sp := w.c.R[4]
	w.call(0x3010, 0x2000)
	w.c.R[4] = sp
	w.call(0x3020, 0x4000)
	want := "[enter 0x2000 at 1 leave 0x2000 at 2 true enter 0x2000 at 4 leave 0x2000 at 5 false]"
	if got := fmt.Sprint(log.log); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func BenchmarkCallRet(b *testing.B) {
	t := NewTracker(NewTree(nil), 1, nil)
	t.Start(0x1000, 0)
	c := &x86.CPU{}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		site := uint64(0x1000 + i%16*32)
		t.Call(c, site, site+0x5000, 0x7ff8)
		t.Ret(c, 0, site+5, 0x8000)
	}
}
