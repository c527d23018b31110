package racesim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/report"
)

// A FunctionUse says how often a function was executed.
type FunctionUse struct {
	Name    string `json:"name"`
	Module  string `json:"module"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Offset  string `json:"offset,omitempty"` // of the entry in the module; only without a file
	Calls   uint64 `json:"calls"`
	Threads int    `json:"threads"` // that called it

	f *funcs.Func
}

// Place is where the function begins, as of a report.Frame.
func (u *FunctionUse) Place() string {
	f := report.Frame{Function: u.Name, File: u.File, Line: u.Line, Module: u.Module, Offset: u.Offset}
	return f.Place()
}

// A FunctionReport is what instances of one function had for inputs and
// outputs.
type FunctionReport struct {
	FunctionUse
	Looked  int        `json:"looked"` // instances looked at, spread over the recording
	Inputs  []ValueUse `json:"inputs"`
	Outputs []ValueUse `json:"outputs"`
	// Uninitialised are reads of memory that an instance owned, its stack or blocks
	// that it allocated, and had not written.
	Uninitialised []ValueUse         `json:"uninitialised,omitempty"`
	Instances     []FunctionInstance `json:"instances"`
}

// A ValueUse says which values a location had, most frequent first.
type ValueUse struct {
	Name     string       `json:"name"` // access path; [*] stands for all elements
	Seen     int          `json:"seen"` // values: an instance can have several of one name
	Distinct int          `json:"distinct"`
	Values   []ValueTimes `json:"values"` // the most frequent
}

// ValueTimes is a value and how often it was there.
type ValueTimes struct {
	Value string `json:"value"`
	Times int    `json:"times"`
}

// A FunctionInstance is one execution.
type FunctionInstance struct {
	Thread       uint32       `json:"thread"`
	Position     string       `json:"position"`
	Instructions uint64       `json:"instructions"`
	Returned     bool         `json:"returned"`            // by its own return
	Truncated    bool         `json:"truncated,omitempty"` // it touched more memory than is kept
	Inputs       []NamedValue `json:"inputs"`
	Outputs      []NamedValue `json:"outputs"`

	Uninitialised []NamedValue `json:"uninitialised,omitempty"`
}

// A NamedValue is what a location held.
type NamedValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// FunctionOptions say what Function returns.
type FunctionOptions struct {
	Looked int // instances looked at; 0: 400
	Values int // of each location; 0: 8
}

// Functions lists the functions of the program itself that were executed, those
// called most often first. all includes the run-time libraries.
func (t *Trace) Functions(ctx context.Context, all bool) ([]FunctionUse, error) {
	w := t.walkFunctions()
	if err := w.each(ctx, func(v *visit) {}); err != nil {
		return nil, err
	}
	var out []FunctionUse
	for _, u := range w.uses {
		if u.f.PLT || !all && (u.f.Runtime || u.f.Library) {
			continue
		}
		out = append(out, *u)
	}
	slices.SortFunc(out, func(x, y FunctionUse) int {
		return cmp.Or(cmp.Compare(y.Calls, x.Calls), cmp.Compare(x.Name, y.Name), cmp.Compare(x.f.Entry, y.f.Entry))
	})
	return out, nil
}

// Function looks at instances of a function, by its name. The error says that
// there is none, or that the trace is damaged.
func (t *Trace) Function(ctx context.Context, name string, o FunctionOptions) (*FunctionReport, error) {
	if o.Looked == 0 {
		o.Looked = 400
	}
	if o.Values == 0 {
		o.Values = 8
	}
	a := &analysis{t: t, ms: t.modules(), rep: &report.Report{}}
	fs := a.ms.FuncsNamed(name)
	if len(fs) == 0 {
		return nil, fmt.Errorf("no function %s in the recorded modules; racesim funcs lists those that were called (what the compiler inlined everywhere never is)", name)
	}
	// Heap blocks have names that only detection knows.
	if err := a.detect(ctx, false); err != nil {
		return nil, err
	}
	w := t.walkFunctions()
	if err := w.each(ctx, func(v *visit) {}); err != nil {
		return nil, err
	}
	use := &FunctionUse{}
	for _, f := range fs {
		if u := w.uses[f.Entry]; u != nil && u.Calls > use.Calls {
			use = u
		}
	}
	if use.f == nil {
		return nil, fmt.Errorf("%s was never called", name)
	}
	r := &FunctionReport{FunctionUse: *use}
	every := max(1, (use.Calls+uint64(o.Looked)-1)/uint64(o.Looked))
	w = t.walkFunctions()
	w.tree = a.tree
	err := w.each(ctx, func(v *visit) {
		v.rec = funcs.NewRecorder(v.calls)
		v.rec.Heap = a.heapBlock
		v.calls.SetSinks(v.rec)
		v.every = every
		v.calls.Watch([]emulate.Addr{use.f.Entry}, v)
	})
	if err != nil {
		return nil, err
	}
	r.Instances = w.found
	r.Looked = len(r.Instances)
	r.Inputs = frequencies(r.Instances, o.Values, func(i *FunctionInstance) []NamedValue { return i.Inputs })
	r.Outputs = frequencies(r.Instances, o.Values, func(i *FunctionInstance) []NamedValue { return i.Outputs })
	r.Uninitialised = frequencies(r.Instances, o.Values, func(i *FunctionInstance) []NamedValue { return i.Uninitialised })
	return r, nil
}

// heapBlock names the block that holds an address.
func (a *analysis) heapBlock(addr emulate.Addr) (funcs.Block, bool) {
	b := a.pass.Detector.BlockAt(addr)
	if b.ID == 0 {
		return funcs.Block{}, false
	}
	return funcs.Block{Base: b.Addr, Size: b.Size, Name: a.allocatorName(b)}, true
}

// allocatorName names the place where a block was allocated.
func (a *analysis) allocatorName(b races.Block) string {
	s := a.allocated(b)
	if len(s) == 0 {
		return "an unknown function"
	}
	return s[0].Place()
}

// frequencies counts values by name.
func frequencies(is []FunctionInstance, most int, of func(*FunctionInstance) []NamedValue) []ValueUse {
	type entry struct {
		use   ValueUse
		times map[string]int
	}
	by := map[string]*entry{}
	var order []*entry
	for i := range is {
		for _, v := range of(&is[i]) {
			name := indices.ReplaceAllString(v.Name, "[*]")
			e := by[name]
			if e == nil {
				e = &entry{use: ValueUse{Name: name}, times: map[string]int{}}
				by[name] = e
				order = append(order, e)
			}
			e.use.Seen++
			e.times[v.Value]++
		}
	}
	out := make([]ValueUse, 0, len(order))
	for _, e := range order {
		e.use.Distinct = len(e.times)
		for v, n := range e.times {
			e.use.Values = append(e.use.Values, ValueTimes{v, n})
		}
		slices.SortFunc(e.use.Values, func(x, y ValueTimes) int {
			return cmp.Or(cmp.Compare(y.Times, x.Times), cmp.Compare(len(x.Value), len(y.Value)), cmp.Compare(x.Value, y.Value))
		})
		e.use.Values = e.use.Values[:min(most, len(e.use.Values))]
		out = append(out, e.use)
	}
	return out
}

// A functionWalk replays all threads, one after the other, and follows their
// calls.
type functionWalk struct {
	t     *Trace
	ms    *funcs.Modules
	tree  *funcs.Tree
	uses  map[emulate.Addr]*FunctionUse
	found []FunctionInstance
}

func (t *Trace) walkFunctions() *functionWalk {
	ms := t.modules()
	return &functionWalk{t: t, ms: ms, tree: funcs.NewTree(ms), uses: map[emulate.Addr]*FunctionUse{}}
}

// A visit is a functionWalk in one thread. It counts calls, and serves
// funcs.InstanceSink for the instances that are looked at.
type visit struct {
	w     *functionWalk
	t     *replay.Thread
	calls *funcs.Tracker
	n     map[emulate.Addr]uint64

	rec   *funcs.Recorder
	every uint64 // instances from one that is looked at to the next
	seen  uint64
	depth int // of the one under way, 0: none
	pos   string
}

// Call serves x86.CallSink.
func (v *visit) Call(c *x86.CPU, site, target, sp uint64) {
	v.n[emulate.Addr(target)]++
	v.calls.Call(c, site, target, sp)
}

// Ret serves x86.CallSink.
func (v *visit) Ret(c *x86.CPU, site, target, sp uint64) { v.calls.Ret(c, site, target, sp) }

// Enter serves funcs.InstanceSink.
func (v *visit) Enter(t *funcs.Tracker, c *x86.CPU) {
	if v.depth != 0 {
		return // within one: recursion
	}
	if v.seen++; (v.seen-1)%v.every != 0 {
		return
	}
	p := v.t.Position()
	p.Steps++ // the call instruction is executing
	v.depth, v.pos = t.Depth(), p.String()
	v.rec.BeginAtCall(c)
	v.t.Observe(nil, true, v.rec)
}

// Leave serves funcs.InstanceSink.
func (v *visit) Leave(t *funcs.Tracker, c *x86.CPU, count emulate.Count, returned bool) {
	if v.depth == 0 || t.Depth() != v.depth {
		return
	}
	inst := v.rec.End(c, count, returned)
	v.depth = 0
	v.t.Observe(nil, false, nil)
	v.w.found = append(v.w.found, FunctionInstance{Thread: uint32(inst.Thread), Position: v.pos, Instructions: uint64(inst.Exit - inst.Entry),
		Returned: inst.Returned, Truncated: inst.Truncated, Inputs: named(inst.Inputs), Outputs: named(inst.Outputs), Uninitialised: named(inst.Uninit)})
}

func named(vs []funcs.Value) []NamedValue {
	out := []NamedValue{}
	for _, v := range vs {
		if !v.Internal && !v.Maybe {
			out = append(out, NamedValue{v.Name, v.String()})
		}
	}
	return out
}

// each replays the threads; prepare is called with each visit before it begins.
func (w *functionWalk) each(ctx context.Context, prepare func(v *visit)) error {
	for _, id := range w.t.s.Threads() {
		th, err := w.t.s.Thread(id)
		if err != nil {
			return err
		}
		v := &visit{w: w, t: th, calls: funcs.NewTracker(w.tree, id, nil), n: map[emulate.Addr]uint64{}}
		v.calls.Begin(th)
		prepare(v)
		th.CPU().Calls = v
		for err == nil {
			if err = ctx.Err(); err == nil {
				_, err = th.Step()
			}
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		w.count(v)
	}
	return nil
}

// count adds the calls of one thread.
func (w *functionWalk) count(v *visit) {
	for at, n := range v.n {
		f := w.ms.FuncAt(at)
		if f == nil || f.Entry != at {
			continue
		}
		u := w.uses[at]
		if u == nil {
			u = &FunctionUse{Name: f.Name, Module: filepath.Base(f.Module.Path), f: f}
			if fs := w.ms.Frames(at); len(fs) > 0 {
				r := reportFrame(fs[len(fs)-1])
				u.File, u.Line, u.Offset = r.File, r.Line, r.Offset
			}
			w.uses[at] = u
		}
		u.Calls += n
		u.Threads++
	}
}
