package racesim

import (
	"slices"

	"github.com/racesim/racesim/checkers"
	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/funcs"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/races"
	"github.com/racesim/racesim/races/detect"
	"github.com/racesim/racesim/report"
)

// What checkers look at in sections that are executed again: facts like those of
// the recording, made of what the sections did and of what the recording shows of
// everybody else.

// A conductThen is what experiments need of the first pass, whose tree is gone.
type conductThen struct {
	found   map[string]bool // findings of the recording, by checker and key
	threads []recordedThread
	signals map[emulate.Addr]int32 // by entry of a handler
	gives   func(site uint64, lock emulate.Addr) bool
}

// A recordedThread is one that the program created.
type recordedThread struct {
	checkers.Thread
	control  uint64 // how the program names it
	by       emulate.ThreadID
	released emulate.Count // when that thread joined or detached it
	program  bool          // it was created by the program's own code
}

// remember keeps what experiments need.
func (a *analysis) remember(findings []report.Finding) {
	c := a.pass.Conduct
	t := &conductThen{found: map[string]bool{}, signals: map[emulate.Addr]int32{}, gives: c.Gives}
	for i := range findings {
		t.found[findings[i].Checker+"\n"+checkers.Key(&findings[i])] = true
	}
	for i := range c.Handlers {
		h := &c.Handlers[i]
		t.signals[a.tree.Node(h.Node).Entry] = h.Signo
	}
	for i := range c.Created {
		k := &c.Created[i]
		tt := a.pass.Threads[k.ID]
		if k.PC == 0 || tt == nil {
			continue
		}
		t.threads = append(t.threads, recordedThread{Thread: checkers.Thread{ID: uint32(k.ID), Parent: uint32(k.Parent), Created: a.ownFrames(k.Ctx, k.PC),
			Joined: k.Joined, Detached: k.Detached, Ended: tt.Exited}, control: tt.Control, by: k.By, released: k.Released, program: a.byProgram(k.Ctx, k.PC)})
	}
	a.then = t
}

// A sectionStart is what is known of a thread where its section begins.
type sectionStart struct {
	nodes   []funcs.NodeID // of the calls under way, innermost first
	handler bool           // a signal's handler is among them
	racing  *races.Access  // the access that the section is around
	held    []heldBefore   // locks that the thread has
	asked   bool           // …has been found out
}

type heldBefore struct {
	addr uint64
	id   races.LockID
}

// startOf returns what is known of the beginning of a section.
func (a *analysis) startOf(s *overlay.Section) *sectionStart {
	if x := a.starts[s]; x != nil && x.nodes != nil {
		return x
	}
	x := a.starts[s]
	if x == nil {
		x = &sectionStart{}
		if a.starts == nil {
			a.starts = map[*overlay.Section]*sectionStart{}
		}
		a.starts[s] = x
	}
	x.nodes = []funcs.NodeID{0}
	if _, calls, err := a.pass.Seek(s.Thread, s.Start); err == nil {
		x.nodes = x.nodes[:0]
		for i := 0; i < calls.Depth(); i++ {
			x.nodes = append(x.nodes, calls.Level(i).Node)
			x.handler = x.handler || calls.Level(i).Signal
		}
	}
	return x
}

// around says which access a section is captured for.
func (a *analysis) around(s *overlay.Section, x *races.Access) {
	if a.starts == nil {
		a.starts = map[*overlay.Section]*sectionStart{}
	}
	a.starts[s] = &sectionStart{racing: x}
}

// nodeOf returns the call path of a deed, and the instruction.
func (a *analysis) nodeOf(s *overlay.Section, p *overlay.Path) (funcs.NodeID, uint64) {
	x := a.startOf(s)
	id := x.nodes[min(p.Left, len(x.nodes)-1)]
	for _, f := range p.Calls {
		if f.Signal != 0 {
			id = a.tree.Handler(id, emulate.Addr(f.Site), emulate.Addr(f.Entry))
		} else {
			id = a.tree.Child(id, emulate.Addr(f.Site), emulate.Addr(f.Entry))
		}
	}
	return id, p.PC
}

// watch says what experiments keep account of; nil if nobody looks at it.
func (a *analysis) watch() *overlay.Watch {
	if a.then == nil || a.ms.IsGo() {
		return nil
	}
	calls := a.o.Rules.Wants("calls")
	unsafe := map[uint64]bool{}
	return &overlay.Watch{Thread: a.threadCall, Blocks: a.o.Rules.Wants("blocks"),
		Call: func(s *overlay.Section, site, target uint64, handler bool) bool {
			if calls && a.byProgram(0, site) {
				return true
			}
			if !handler && (len(a.then.signals) == 0 || !a.startOf(s).handler) {
				return false
			}
			bad, ok := unsafe[target]
			if !ok {
				bad = a.unsafeTarget(emulate.Addr(target)) != ""
				unsafe[target] = bad
			}
			return bad
		}}
}

// unsafeTarget names the function at an address if signal handlers may not call
// it.
func (a *analysis) unsafeTarget(target emulate.Addr) string {
	f := a.ms.FuncAt(target)
	if f == nil {
		return ""
	}
	if f.PLT {
		if x := a.ms.ExportedIn(f.Module.Life, f.Linkage); x != nil {
			f = x
		}
	}
	return a.unsafeFunc(f)
}

// threadCall says what a function does to a thread, by its entry.
func (a *analysis) threadCall(target uint64) overlay.ThreadCall {
	m := a.runtime().threads
	k, ok := m[emulate.Addr(target)]
	if !ok {
		if f := a.ms.FuncAt(emulate.Addr(target)); f != nil && f.PLT && uint64(f.Entry) == target {
			if x := a.ms.ExportedIn(f.Module.Life, f.Linkage); x != nil {
				k = m[x.Entry]
			}
		}
		m[emulate.Addr(target)] = k
	}
	return k
}

// checkAgain runs the checkers over sections that were executed again.
func (a *analysis) checkAgain(secs []*overlay.Section, r *overlay.Result) []loadsub.Finding {
	f := a.factsAgain(secs, r)
	found, err := checkers.RunAgain(f, a.o.Rules)
	if err != nil {
		a.note("%v", err)
	}
	var out []loadsub.Finding
	for i := range found {
		x := &found[i]
		if w := a.o.Rules.Weighs(x.Checker); w != loadsub.Ignored {
			k := checkers.Key(x)
			out = append(out, loadsub.Finding{Checker: x.Checker, Key: k, What: x.Message, Weight: w, Recorded: checkers.AboutPlaces(x.Checker) && a.then.found[x.Checker+"\n"+k]})
		}
	}
	return out
}

// factsAgain collects what the checkers look at.
func (a *analysis) factsAgain(secs []*overlay.Section, r *overlay.Result) *checkers.Facts {
	f := &checkers.Facts{Complete: true}
	for i := range r.Ends {
		f.Complete = f.Complete && r.Ends[i].Outcome == overlay.Done
	}
	d := &doings{a: a, secs: secs, held: make([][]held, len(secs)), released: map[uint64]overlay.DeedKind{}, opened: map[uint64]*overlay.Deed{}}
	deeds := r.Deeds()
	for i := range deeds {
		d.take(&deeds[i])
	}
	if len(d.edges) > 0 {
		f.Cycles = d.cycles
		if a.o.Rules.Wants("locks") {
			for _, e := range d.edges {
				f.Pairs = append(f.Pairs, a.lockEdge(e))
			}
		}
	}
	f.LooseWaits = a.missteps(a.looseWaits(d.waits))
	f.Unsafe, f.Calls = d.unsafe, d.calls
	if f.Complete {
		d.threads(f)
		d.descriptors(f, r)
		if a.o.Rules.Wants("blocks") {
			d.blocks(f, r)
		}
	}
	f.Falsely = func(_, uses int) []checkers.SharedLine { return a.falselyAgain(secs, r, uses) }
	return f
}

// doings are what sections did, in order.
type doings struct {
	a        *analysis
	secs     []*overlay.Section
	held     [][]held // by participant
	edges    []*races.LockEdge
	waits    []detect.Misstep
	unsafe   []checkers.UnsafeCall
	calls    []checkers.Call
	made     []*overlay.Deed
	released map[uint64]overlay.DeedKind // threads joined or detached
	opened   map[uint64]*overlay.Deed
	order    []uint64 // of those opened
	begun    bool
}

type held struct {
	addr  uint64
	id    races.LockID
	mode  races.LockMode
	depth int
	at    races.LockSite
}

// take takes in a deed.
func (d *doings) take(x *overlay.Deed) {
	a := d.a
	switch x.Kind {
	case overlay.DeedTake:
		d.taken(x)
	case overlay.DeedGive:
		l := d.has(x.Part)
		for i := range *l {
			if h := &(*l)[i]; h.addr == x.Addr {
				if h.depth--; h.depth == 0 {
					*l = slices.Delete(*l, i, i+1)
				}
				break
			}
		}
	case overlay.DeedWait:
		if x.Timed {
			return
		}
		for _, h := range *d.has(x.Part) {
			if h.addr == x.Addr {
				ctx, pc := a.nodeOf(d.secs[x.Part], &x.At)
				if a.tree.Place(ctx, emulate.Addr(pc)).User != 0 {
					d.waits = append(d.waits, detect.Misstep{Thread: d.secs[x.Part].Thread, Ctx: ctx, PC: pc, Count: x.Count, Lock: emulate.Addr(x.Addr), Taken: h.at})
				}
			}
		}
	case overlay.DeedMake:
		d.made = append(d.made, x)
	case overlay.DeedJoin, overlay.DeedDetach:
		d.released[x.Addr] = x.Kind
	case overlay.DeedCall:
		d.called(x)
	case overlay.DeedOpen:
		if d.opened[x.Addr] == nil {
			d.order = append(d.order, x.Addr)
		}
		d.opened[x.Addr] = x
	case overlay.DeedClose:
		delete(d.opened, x.Addr)
	}
}

// has returns the locks that a participant has.
func (d *doings) has(part int) *[]held {
	if !d.begun {
		d.begun = true
		for i, s := range d.secs {
			for _, h := range d.a.heldBefore(s) {
				d.held[i] = append(d.held[i], held{addr: h.addr, id: h.id, depth: 1, at: d.a.takenBefore(s, h.id)})
			}
		}
	}
	return &d.held[part]
}

// taken notes that a lock was taken, and while which others were held.
func (d *doings) taken(x *overlay.Deed) {
	l := d.has(x.Part)
	for i := range *l {
		if h := &(*l)[i]; h.addr == x.Addr {
			h.depth++
			return
		}
	}
	s := d.secs[x.Part]
	id := d.a.lockAt(x.Addr)
	if id == 0 {
		return
	}
	ctx, pc := d.a.nodeOf(s, &x.At)
	n := held{addr: x.Addr, id: id, depth: 1, at: races.LockSite{Thread: s.Thread, PC: pc, Ctx: ctx, Count: x.Count}}
	switch {
	case x.Shared && x.Try:
		n.mode = races.LockTryShared
	case x.Shared:
		n.mode = races.LockShared
	case x.Try:
		n.mode = races.LockTry
	}
	if n.mode.Blocks() {
		for i := range *l {
			h := &(*l)[i]
			var gates, readable []races.LockID
			for k := range *l {
				if g := &(*l)[k]; k != i {
					gates = append(gates, g.id)
					if g.mode.Shared() {
						readable = append(readable, g.id)
					}
				}
			}
			det := d.a.pass.Detector
			d.edges = append(d.edges, &races.LockEdge{From: h.id, To: id, Mode: n.mode, HeldMode: h.mode, Segment: d.a.pass.Lives.At(s.Thread, s.Start),
				Held: h.at, Taken: n.at, Gates: det.LocksetOf(gates), Readable: det.LocksetOf(readable), Count: 1})
		}
	}
	*l = append(*l, n)
}

// cycles lists the lock-order cycles that an acquisition of the sections closes.
func (d *doings) cycles(length int) [][]checkers.LockEdge {
	a := d.a
	g := a.pass.Detector.LockGraph().With(d.edges, func(e *races.LockEdge) bool {
		return !slices.ContainsFunc(d.secs, func(s *overlay.Section) bool {
			return e.Count == 1 && e.Taken.Thread == s.Thread && e.Taken.Count >= s.Start && e.Taken.Count < s.Stop
		})
	})
	here := a.cycles(g, length, func(e *races.LockEdge) bool { return slices.Contains(d.edges, e) })
	if len(here) == 0 {
		return nil
	}
	// What others do anyway isn't for these to close.
	others := map[string]bool{}
	for _, c := range a.cycles(g.With(nil, func(e *races.LockEdge) bool { return !slices.Contains(d.edges, e) }), length, func(*races.LockEdge) bool { return true }) {
		others[checkers.CycleKey(c)] = true
	}
	return slices.DeleteFunc(here, func(c []checkers.LockEdge) bool { return others[checkers.CycleKey(c)] })
}

// lockAt returns the lock at an address; 0 if there were several.
func (a *analysis) lockAt(addr uint64) races.LockID {
	d := a.pass.Detector
	if a.locksOf != a.pass {
		a.locksOf, a.locksBy, a.newLocks = a.pass, map[uint64]races.LockID{}, map[races.LockID]uint64{}
		last := races.LockID(1)
		for ; d.LockAddr(last) != 0; last++ {
			at := uint64(d.LockAddr(last))
			if _, two := a.locksBy[at]; two {
				a.locksBy[at] = 0
			} else {
				a.locksBy[at] = last
			}
		}
		a.nextLock = last
	}
	id, ok := a.locksBy[addr]
	if !ok {
		id = a.nextLock
		a.nextLock++
		a.locksBy[addr], a.newLocks[id] = id, addr
	}
	return id
}

// lockAddr returns the address of a lock, be it one that only experiments take.
func (a *analysis) lockAddr(id races.LockID) uint64 {
	if at := uint64(a.pass.Detector.LockAddr(id)); at != 0 {
		return at
	}
	return a.newLocks[id]
}

// heldBefore returns the locks that a thread has where a section begins: those
// that it has at the racing access and didn't take before it in the section.
func (a *analysis) heldBefore(s *overlay.Section) []heldBefore {
	x := a.startOf(s)
	if x.asked || x.racing == nil || x.racing.Locks == 0 {
		return x.held
	}
	x.asked = true
	w := a.world(s.Thread, x.racing.Count)
	w.Check = nil
	deeds := loadsub.Reference(s, loadsub.Options{World: w}).Deeds()
	var own []uint64
	for i := range deeds {
		y := &deeds[i]
		if y.Count >= x.racing.Count {
			break
		}
		switch k := slices.Index(own, y.Addr); {
		case y.Kind == overlay.DeedTake:
			own = append(own, y.Addr)
		case y.Kind == overlay.DeedGive && k >= 0:
			own = slices.Delete(own, k, k+1)
		}
	}
	for _, id := range a.pass.Detector.Lockset(x.racing.Locks) {
		if at := uint64(a.pass.Detector.LockAddr(id)); at != 0 && !slices.Contains(own, at) {
			x.held = append(x.held, heldBefore{at, id})
		}
	}
	return x.held
}

// takenBefore says where a thread took a lock that it has where a section begins,
// as far as the order of locks tells.
func (a *analysis) takenBefore(s *overlay.Section, id races.LockID) races.LockSite {
	var last races.LockSite
	for _, e := range a.pass.Detector.LockGraph().Edges() {
		for _, at := range []races.LockSite{e.Held, e.Taken} {
			if at.Thread == s.Thread && at.Count < s.Start && at.Count >= last.Count && (at == e.Held && e.From == id || at == e.Taken && e.To == id) {
				last = at
			}
		}
	}
	return last
}

// called notes a call.
func (d *doings) called(x *overlay.Deed) {
	a, s := d.a, d.secs[x.Part]
	ctx, pc := a.nodeOf(s, &x.At)
	id := a.tree.Child(ctx, emulate.Addr(pc), emulate.Addr(x.Addr))
	h := ctx
	for h != 0 && !a.tree.Node(h).Signal {
		h = a.tree.Node(h).Parent
	}
	if h != 0 && a.tree.Class(h) == 0 {
		sig := a.then.signals[a.tree.Node(h).Entry]
		for _, f := range x.At.Calls {
			if f.Signal != 0 {
				sig = f.Signal
			}
		}
		if u, _, ok := a.unsafeCall(id, &detect.Delivery{Thread: s.Thread, Node: h, Signo: sig, Count: x.Count}); ok {
			d.unsafe = append(d.unsafe, u)
		}
	}
	if a.o.Rules.Wants("calls") {
		if c, ok := a.call(id, h != 0); ok {
			c.Thread = uint32(s.Thread)
			d.calls = append(d.calls, c)
		}
	}
}

// threads adds those that nobody joins or detaches, and those that the sections
// created.
func (d *doings) threads(f *checkers.Facts) {
	for i := range d.a.then.threads {
		t := &d.a.then.threads[i]
		x := t.Thread
		inside := slices.ContainsFunc(d.secs, func(s *overlay.Section) bool {
			return t.by == s.Thread && t.released > s.Start && t.released <= s.Stop
		})
		if inside {
			x.Joined, x.Detached = false, false
		}
		switch d.released[t.control] {
		case overlay.DeedJoin:
			x.Joined = true
		case overlay.DeedDetach:
			x.Detached = true
		}
		if t.program && x.Ended && !x.Joined && !x.Detached {
			f.Unjoined = append(f.Unjoined, x)
		}
		if slices.ContainsFunc(d.made, func(m *overlay.Deed) bool { return m.Addr == t.control }) {
			f.Threads = append(f.Threads, x)
		}
	}
}

// descriptors adds those that the sections opened: all, and those whose number
// nobody has.
func (d *doings) descriptors(f *checkers.Facts, r *overlay.Result) {
	for _, fd := range d.order {
		x := d.opened[fd]
		if x == nil {
			continue
		}
		s := d.secs[x.Part]
		ctx, pc := d.a.nodeOf(s, &x.At)
		o := checkers.OpenFile{FD: int(fd), Call: fileCallName(x.NR), Thread: uint32(s.Thread), Opened: d.a.ownFrames(ctx, pc)}
		f.Open = append(f.Open, o)
		if fd > 2 && d.a.opens(&detect.OpenFile{FileCall: detect.FileCall{Ctx: ctx, PC: pc}}) && !loadsub.Kept(d.secs, r, uint32(fd)) {
			f.Forgotten = append(f.Forgotten, o)
		}
	}
}

// blocks adds those that the sections allocated and didn't free.
func (d *doings) blocks(f *checkers.Facts, r *overlay.Result) {
	reached := loadsub.Reached(d.secs, r)
	for addr, size := range r.New() {
		part, at := r.Allocated(addr)
		ctx, pc := d.a.nodeOf(d.secs[part], &at)
		f.Lost = append(f.Lost, checkers.Block{Addr: addr, Size: size, Count: 1, Thread: uint32(d.secs[part].Thread), AllocatedAt: d.a.ownFrames(ctx, pc), Reachable: reached[addr]})
	}
	slices.SortFunc(f.Lost, func(x, y checkers.Block) int { return int(int64(x.Addr - y.Addr)) })
}

// falselyAgain names what two sections use different parts of one line for.
func (a *analysis) falselyAgain(secs []*overlay.Section, r *overlay.Result, times int) []checkers.SharedLine {
	var out []checkers.SharedLine
	for _, l := range r.Split(times) {
		var x checkers.SharedLine
		own := true
		for i := range l.First {
			u := detect.LineUser{Thread: secs[i].Thread, Addr: emulate.Addr(l.First[i]), Writes: l.Write[i]}
			own = a.lineUser(&x, &u) && own
		}
		if !own && !slices.ContainsFunc(secs, func(s *overlay.Section) bool { return s.OnStack(l.Line << 6) }) {
			out = append(out, x)
		}
	}
	return out
}
