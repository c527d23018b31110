package detect

import (
	"slices"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/funcs"
)

// What a thread does after a barrier comes after what the others did before it,
// in every schedule; what it does after it was woken, after what the one did that
// woke it. Such messages are told from locks, whose order is chance, by the
// function that is called. (POSIX.1-2017.)

// A messageRole says what a function does with an object: its first argument.
type messageRole uint8

const (
	_          messageRole = iota
	msgBarrier             // waits for all others at the barrier
	msgSignal              // wakes those that wait for the condition, or one of them
	msgPost                // gives the semaphore a unit
	msgTake                // waits for a unit of the semaphore; 0 if it got one
	msgInit                // the semaphore has as many units as the third argument says
	msgWait                // waits for the condition; 0 if it was woken
)

var messageFuncs = []roleOf[messageRole]{
	{msgBarrier, []string{"pthread_barrier_wait"}},
	{msgSignal, []string{"pthread_cond_signal", "pthread_cond_broadcast", "cnd_signal", "cnd_broadcast"}},
	{msgPost, []string{"sem_post"}},
	{msgTake, []string{"sem_wait", "sem_trywait", "sem_timedwait", "sem_clockwait"}},
	{msgInit, []string{"sem_init"}},
	{msgWait, []string{"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_wait", "cnd_timedwait"}},
}

// A messageCall is a call of such a function under way.
type messageCall struct {
	depth int
	role  messageRole
	addr  uint64
}

// Parts of a noteMessage, as its old.
const (
	msgBegins = iota // the call
	msgEnds          // it returned 0, or serves as a barrier
)

func (f *follower) enterMessage(r messageRole, t *funcs.Tracker, c *x86.CPU) {
	if r == 0 || len(f.messages) > 0 {
		return
	}
	f.flush()
	f.note(note{kind: noteMessage, message: r, addr: c.R[x86.RDI], size: c.R[x86.RDX], old: msgBegins, count: f.t.Count()})
	f.messages = append(f.messages, messageCall{t.Depth(), r, c.R[x86.RDI]})
}

func (f *follower) leaveMessage(t *funcs.Tracker, c *x86.CPU, count emulate.Count, returned bool) {
	for n := len(f.messages); n > 0 && f.messages[n-1].depth >= t.Depth(); n-- {
		m := f.messages[n-1]
		f.messages = f.messages[:n-1]
		if m.depth == t.Depth() && returned && (m.role == msgBarrier || uint32(c.R[x86.RAX]) == 0) {
			f.flush()
			f.note(note{kind: noteMessage, message: m.role, addr: m.addr, old: msgEnds, count: count})
		}
	}
}

// Bounds of the segments begun for messages, and of their clocks: beyond them,
// messages order nothing.
const (
	maxMessages = 1 << 14
	maxClocks   = 4 << 20 // entries
)

// A hardObject is what messages go through.
type hardObject struct {
	// Of a barrier: how often it opened, at which of these times a thread waits
	// for it, and the clock of all that came to it until now, or until it opened.
	opened  int
	waits   map[emulate.ThreadID]int
	arrived lifeClock
	before  lifeClock

	// Of a condition: what has been signalled since a thread began to wait.
	woken map[emulate.ThreadID]lifeClock

	// Of a semaphore that begins with no unit: how many were given and taken, and
	// the clock of those that gave.
	empty        bool
	given, taken int
	posted       lifeClock
}

// message takes in a note about an object.
func (l *Lifetimes) message(id emulate.ThreadID, n *note) {
	if l.messages >= min(maxMessages, maxClocks/max(1, len(l.slots))) {
		return
	}
	o := l.objects[n.addr]
	if o == nil {
		o = &hardObject{waits: map[emulate.ThreadID]int{}, woken: map[emulate.ThreadID]lifeClock{}}
		l.objects[n.addr] = o
	}
	begin := func(after lifeClock) {
		l.messages++
		l.begin(id, n.count, after)
	}
	switch r := n.message; {
	case r == msgBarrier && n.old == msgBegins:
		o.arrived = o.arrived.join(l.clock(id))
		o.waits[id] = o.opened
	case r == msgBarrier:
		// Who leaves first shows that all have come who had to.
		if o.waits[id] == o.opened {
			o.before = slices.Clone(o.arrived)
			o.opened++
		}
		if o.waits[id] == o.opened-1 {
			begin(o.before)
		}
	case r == msgWait && n.old == msgBegins:
		o.woken[id] = nil
	case r == msgWait:
		if c := o.woken[id]; c != nil {
			begin(c)
		}
		delete(o.woken, id)
	case r == msgSignal && n.old == msgBegins && len(o.woken) > 0:
		for u, c := range o.woken {
			o.woken[u] = c.join(l.clock(id))
		}
		begin(nil)
	case r == msgInit && n.old == msgBegins:
		*o = hardObject{waits: o.waits, woken: o.woken, empty: uint32(n.size) == 0}
	case r == msgPost && n.old == msgBegins && o.empty:
		o.given++
		o.posted = o.posted.join(l.clock(id))
		begin(nil)
	case r == msgTake && n.old == msgEnds && o.empty:
		// Only if it needed every unit there was is it sure whose it needed.
		if o.taken++; o.taken == o.given {
			begin(o.posted)
		}
	}
}
