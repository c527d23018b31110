package replay

import (
	"fmt"
	"io"
	"sort"
	"sync"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/hwmodel"
)

// In a trace of log mode ccp, a line that another thread has isn't logged when
// it flows in, only who had it and that thread's last event. The threads are
// replayed side by side, each in a goroutine of its own, and hand such lines
// over: a thread that comes to an event at which others will want lines of it
// offers copies of them, and one that wants a line waits for the offer. That
// keeps both orders: who reads comes after the write, and before the next.

// An exchange is where the threads of one replay hand lines over.
type exchange struct {
	mu    sync.Mutex
	moved sync.Cond // an offer was made or taken, or a thread ended
	of    map[emulate.ThreadID]*offers

	alive   int            // threads that have not ended
	waiting map[*want]bool // what those wait for that can't go on
	stalled int            // threads that wait for their offers to be taken
	open    int            // offers that weren't taken yet
	broken  bool

	// byPacket says that offers are made before a packet of a stream, by its
	// place, instead of at an event; resolved has these places for the snoops
	// of each thread, in their order.
	byPacket bool
	// Each thread takes from its own.
	resolved map[emulate.ThreadID]*[]uint64

	// When every thread waits for another, none can say which content is the one
	// that was meant: choices say, deadlock by deadlock, whose wish is granted
	// with what the other has then; options count what there was to choose from.
	// Whether that was right shows when the other comes to where it was to offer.
	threads map[emulate.ThreadID]*Thread
	choices []int
	options []int
	grant   bool
	wrong   bool // one wasn't

	run chan struct{} // tokens: as many threads execute at a time
	// took, if set, is told of each line that came from another thread, in the
	// order of the receiver's stream.
	took func(t *Thread, data *[hwmodel.LineSize]byte)
	gone func(id emulate.ThreadID) // if set, is told of each thread's end
	// now, if set, is asked for lines instead: no thread waits for another, as
	// they are replayed one at a time.
	now func(source emulate.ThreadID, line uint64) *[hwmodel.LineSize]byte
}

// maxOpen is the number of offers beyond which a thread that nobody waits for
// pauses: 128 MB.
const maxOpen = 1 << 20

// offers are what the other threads want of one.
type offers struct {
	list    []offer // by event, then line
	next    int     // those before were offered
	waiters int     // threads that wait for one of them
	ended   bool
}

// A want is what a thread waits for: offer i of another.
type want struct {
	by     *Thread
	of     *offers
	i      int
	source emulate.ThreadID
}

func (w *want) pending() bool {
	return w.of.next <= w.i && !w.of.ended && w.of.list[w.i].early == nil
}

// An offer is a line as an event left it.
type offer struct {
	since, line uint64
	wanted      int // so often
	data        *[hwmodel.LineSize]byte
	early       *[hwmodel.LineSize]byte // granted before
}

// newExchange reads all streams for who wants what.
func (s *Session) newExchange(workers int) (*exchange, error) {
	ms, err := s.readMessages()
	if err != nil {
		return nil, err
	}
	var resolved map[emulate.ThreadID][]uint64
	if s.solving() {
		resolved = ms.byMarks()
	} else if err := ms.order(); err != nil {
		return nil, err
	}
	return s.exchangeOf(workers, ms, resolved), nil
}

// solving says that messages don't say where in the holder's stream they belong.
func (s *Session) solving() bool { return s.r.Header().LogMode == "ccp:readers" }

// exchangeOf returns the exchange for messages; resolved are the places of those
// that don't say theirs, nil if all do.
func (s *Session) exchangeOf(workers int, ms *messages, resolved map[emulate.ThreadID][]uint64) *exchange {
	x := &exchange{of: map[emulate.ThreadID]*offers{}, waiting: map[*want]bool{}, run: make(chan struct{}, workers), alive: len(s.threads),
		threads: map[emulate.ThreadID]*Thread{}, byPacket: resolved != nil, resolved: map[emulate.ThreadID]*[]uint64{}}
	for id, l := range resolved {
		x.resolved[id] = &l
	}
	x.moved.L = &x.mu
	for _, id := range s.threads {
		x.of[id] = new(offers)
	}
	for id, l := range ms.of {
		n := 0
		for _, m := range l {
			o, since := x.of[m.source], m.since
			if x.byPacket && m.wants() {
				since = (*x.resolved[id])[n]
				n++
			}
			if m.wants() {
				o.list = append(o.list, offer{since: since, line: m.line, wanted: 1})
			}
		}
	}
	for _, o := range x.of {
		o.merge()
	}
	return x
}

// next returns, for the next snoop of a thread, the place in the other's stream
// before which that has the line.
func (x *exchange) next(id emulate.ThreadID) uint64 {
	l := x.resolved[id]
	if l == nil || len(*l) == 0 {
		return 0 // can't be: as many were read before
	}
	place := (*l)[0]
	*l = (*l)[1:]
	return place
}

// merge sorts the list and counts what is wanted more than once.
func (o *offers) merge() {
	sort.Slice(o.list, func(i, j int) bool { return o.list[i].before(o.list[j].since, o.list[j].line) })
	n := 0
	for _, f := range o.list {
		if n > 0 && o.list[n-1].since == f.since && o.list[n-1].line == f.line {
			o.list[n-1].wanted++
			continue
		}
		o.list[n] = f
		n++
	}
	o.list = o.list[:n]
}

func (f *offer) before(since, line uint64) bool {
	return f.since < since || f.since == since && f.line < line
}

// passed makes the offers of a thread that is at an event.
func (x *exchange) passed(t *Thread, min uint64) {
	o := x.of[t.id]
	if o == nil || o.next == len(o.list) || o.list[o.next].since > min {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for ; o.next < len(o.list) && o.list[o.next].since <= min; o.next++ {
		f := &o.list[o.next]
		if l := t.mem.Line(f.line); f.early != nil && (l == nil || *l != *f.early) {
			x.wrong, x.broken = true, true
		} else if l != nil && (f.since == min || x.byPacket) {
			f.data = new([hwmodel.LineSize]byte)
			*f.data = *l
			x.open++
		}
	}
	x.moved.Broadcast()
	// Nobody needs it now: let the others catch up.
	if x.open > maxOpen {
		<-x.run
		x.stalled++
		for x.open > maxOpen && o.waiters == 0 && len(x.waiting)+x.stalled < x.alive && !x.broken {
			x.moved.Wait()
		}
		x.stalled--
		x.resume()
	}
}

// resume waits, without the lock, for a token to execute.
func (x *exchange) resume() {
	x.mu.Unlock()
	x.run <- struct{}{}
	x.mu.Lock()
}

// fetch waits for an offer of thread source and takes it. nil means that there
// will be none.
func (x *exchange) fetch(t *Thread, source emulate.ThreadID, since, line uint64) *[hwmodel.LineSize]byte {
	o := x.of[source]
	i := sort.Search(len(o.list), func(i int) bool { return !o.list[i].before(since, line) })
	x.mu.Lock()
	defer x.mu.Unlock()
	if w := (&want{t, o, i, source}); w.pending() {
		<-x.run
		o.waiters++
		x.waiting[w] = true
		x.moved.Broadcast()
		for x.check(); w.pending() && !x.broken; {
			x.moved.Wait()
		}
		delete(x.waiting, w)
		o.waiters--
		x.resume()
	}
	f := &o.list[i]
	d := f.data
	if f.early != nil {
		d = f.early
	} else if o.next <= i {
		return nil
	}
	if f.wanted--; f.wanted == 0 && f.data != nil {
		f.data = nil
		x.open--
		if x.stalled > 0 && x.open == maxOpen {
			x.moved.Broadcast()
		}
	}
	return d
}

// check notices that each thread waits for another: no execution has such
// messages.
func (x *exchange) check() {
	if x.alive == 0 || len(x.waiting) < x.alive {
		return
	}
	for w := range x.waiting {
		if !w.pending() {
			return
		}
	}
	if x.grant {
		x.choose()
	} else {
		x.broken = true
	}
	x.moved.Broadcast()
}

// choose grants one of the wishes.
func (x *exchange) choose() {
	var l []*want
	for w := range x.waiting {
		l = append(l, w)
	}
	sort.Slice(l, func(i, j int) bool {
		return l[i].by.min < l[j].by.min || l[i].by.min == l[j].by.min && l[i].by.id < l[j].by.id
	})
	k := 0
	if n := len(x.options); n < len(x.choices) {
		k = x.choices[n] % len(l)
	}
	x.options = append(x.options, len(l))
	w := l[k]
	d := x.threads[w.source].mem.Line(w.of.list[w.i].line)
	if d == nil {
		x.wrong, x.broken = true, true
		return
	}
	early := *d
	w.of.list[w.i].early = &early
}

// ended says that a thread offers nothing any more.
func (x *exchange) ended(id emulate.ThreadID) {
	if x.gone != nil {
		x.gone(id)
	}
	x.mu.Lock()
	x.of[id].ended = true
	x.alive--
	x.moved.Broadcast()
	x.check()
	x.mu.Unlock()
}

// arrived makes w hold its line's bytes. It returns false after an error.
func (t *Thread) arrived(w *waiting) bool {
	if t.peers != nil && t.peers.byPacket {
		t.peers.passed(t, w.nth)
	}
	if w.source == 0 {
		return true
	}
	var d *[hwmodel.LineSize]byte
	if w.source == t.id {
		d = t.mem.Line(w.theirs)
	} else if t.peers.now != nil {
		d = t.peers.now(w.source, w.theirs)
	} else if t.peers.of[w.source] != nil {
		d = t.peers.fetch(t, w.source, w.min, w.theirs)
	}
	if d == nil {
		if t.s.r.Incomplete() != "" {
			t.fail(io.EOF) // the other's stream ends earlier
		} else {
			t.diverged(fmt.Sprintf("line %v of thread %d at its event %d", emulate.Addr(w.theirs<<hwmodel.LineShift), w.source, w.min), "%s", t.peers.why(w.source))
		}
		return false
	}
	w.data, w.source = *d, 0
	if t.peers.took != nil {
		t.peers.took(t, &w.data)
	}
	return true
}

// why says why a thread didn't offer what was wanted of it.
func (x *exchange) why(id emulate.ThreadID) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch o := x.of[id]; {
	case o == nil:
		return "no such thread"
	case x.broken:
		return "threads that wait for one another in a circle"
	case o.ended:
		return "that thread's end before it"
	}
	return "none there"
}

// await says that somebody waits for thread id to go on, or, with -1, does no
// longer.
func (x *exchange) await(id emulate.ThreadID, n int) {
	x.mu.Lock()
	x.of[id].waiters += n
	x.moved.Broadcast()
	x.mu.Unlock()
}
