package replay

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sort"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/traces"
)

// Solved says how the order of messages was found that don't say it.
type Solved struct {
	Messages     int // that stand for bytes
	Edges        int // between threads, that the messages' holders and counts give
	Ambiguous    int // messages of which the holder's content could be one of several, when nothing more followed
	Replays      int // of all threads, with alternatives chosen
	Contradicted int // alternatives that the recording contradicts
	Undecided    int // alternatives that the recording allows as well as the one that was
	Granted      int // lines handed over in the last replay because all threads waited for one another
	Marks        bool
}

func (o Solved) String() string {
	s := fmt.Sprintf("order of %d messages by %d inequalities", o.Messages, o.Edges)
	if o.Ambiguous > 0 {
		s += fmt.Sprintf("; %d ambiguous", o.Ambiguous)
	}
	if o.Replays > 0 {
		s += fmt.Sprintf("; replayed %d times, %d alternatives contradicted, %d circles cut", o.Replays, o.Contradicted, o.Granted)
	}
	if o.Undecided > 0 {
		s += fmt.Sprintf("; %d ways that the recording allows, too, excluded by the schedule's marks", o.Undecided)
	}
	if o.Marks {
		s += "; too many alternatives: taken from the schedule's marks"
	}
	return s
}

// Bounds of the search for an order.
const (
	maxTries   = 150 // solutions of the inequalities
	maxReplays = 12
)

// errGiveUp ends a search that takes too long.
var errGiveUp = errors.New("replay: too many alternatives")

// A search looks for an order of the messages that the recording doesn't
// contradict.
type search struct {
	ctx     context.Context
	s       *Session
	ms      *messages
	v       *solver
	workers int
	tries   int
	out     Solved
	chosen  map[place]int // of open messages, how far their holders had come
	told    map[place]int // and of those of which the marks tell
	// The order that was found, and what to choose where it leaves threads
	// waiting for one another.
	resolved map[emulate.ThreadID][]uint64
	choices  []int
}

// solveOrder finds where in their holders' streams messages belong, from them
// and from orderable events, without the schedule's marks.
func (s *Session) solveOrder(ctx context.Context, ms *messages, workers int) (*search, error) {
	f := &search{ctx: ctx, s: s, ms: ms, workers: workers, chosen: map[place]int{}, told: map[place]int{}}
	if len(s.threads) > maxSolved {
		return f, fmt.Errorf("replay: %d threads, of whose messages the order is looked for; the maximum is %d", len(s.threads), maxSolved)
	}
	for _, l := range ms.of {
		for i := range l {
			if l[i].wants() {
				f.out.Messages++
			}
		}
	}
	f.v = newSolver(s.threads, ms)
	open, err := f.v.solve()
	if err != nil {
		return f, err
	}
	f.out.Ambiguous = len(open)
	mark := len(f.v.trail)
	for err = f.settle(open); err == nil && f.differs(); err = f.settle(open) {
		f.v.undo(mark)
		clear(f.chosen)
		if open, err = f.v.solve(); err != nil {
			return f, err
		}
	}
	f.out.Edges = len(f.v.edges)
	return f, err
}

// differs says whether the order found, which nothing contradicts, isn't that of
// the execution, and notes what was.
func (f *search) differs() bool {
	differs := false
	for p, next := range f.chosen {
		m := f.v.nodes[p.thread][p.node].m
		h := f.v.index[m.source]
		l, at := f.v.lines[m.line][h], f.ms.after(m.source, m.min)
		was := sort.Search(len(l), func(i int) bool { return f.v.nodes[h][l[i]].nth >= at })
		if was != next {
			differs = true
			f.told[p] = was
			f.out.Undecided++
		}
	}
	return differs
}

// settle tries the alternatives of what is open, until none contradicts the
// inequalities or the recording.
func (f *search) settle(open []place) error {
	if len(open) == 0 {
		return f.attempt()
	}
	p := open[0]
	m := f.v.nodes[p.thread][p.node].m
	choices := append([]int(nil), f.v.choices[p]...)
	if len(choices) == 0 {
		return errGiveUp // too many states to tell
	}
	if next, ok := f.told[p]; ok {
		choices = []int{next}
	}
	mark := len(f.v.trail)
	var last error
	for _, next := range choices {
		if f.tries++; f.tries > maxTries {
			return errGiveUp
		}
		f.chosen[p] = next
		f.v.settle(f.v.lines[m.line], p, next)
		left, err := f.v.solve()
		if err == nil {
			err = f.settle(left)
		}
		if err == nil || errors.Is(err, errGiveUp) || f.ctx.Err() != nil {
			return err
		}
		f.out.Contradicted++
		last = err
		delete(f.chosen, p)
		f.v.undo(mark)
	}
	return last
}

// attempt replays everything in the order found, with each way out where all
// threads wait for one another.
func (f *search) attempt() error {
	resolved := f.v.resolved()
	var choices []int
	for {
		if f.out.Replays >= maxReplays {
			return errGiveUp
		}
		f.out.Replays++
		x := f.s.exchangeOf(f.workers, f.ms, resolved)
		x.grant, x.choices = true, choices
		err := f.s.together(x, func(t *Thread) error {
			t.Want = Kinds(traces.Switch)
			_, err := t.toEnd(f.ctx, func(uint64) {})
			return err
		})
		if e := f.ctx.Err(); e != nil {
			return e
		}
		if err == nil && !x.wrong {
			f.resolved, f.choices, f.out.Granted = resolved, choices, len(x.options)
			return nil
		}
		f.out.Contradicted++
		if err == nil {
			err = errors.New("replay: a line wasn't what another thread had been given of it")
		}
		if choices = nextChoices(choices, x.options); choices == nil {
			return err
		}
	}
}

// nextChoices returns the choices after those made, the last one first, nil when
// all were made.
func nextChoices(made, options []int) []int {
	c := make([]int, len(options))
	copy(c, made)
	for i := len(c) - 1; i >= 0; i-- {
		if c[i]+1 < options[i] {
			c[i]++
			return c[:i+1]
		}
	}
	return nil
}

// DecoupleOptions say how to decouple.
type DecoupleOptions struct {
	Workers int // threads that execute at a time, 0 for one per host processor
	// NoMarks finds the order of messages that don't say it (log mode
	// ccp:readers) from them and from orderable events alone, even if the trace
	// has the schedule's marks. What that leaves open is decided by them.
	NoMarks bool
}

// exchange returns where threads hand lines over when the trace is decoupled.
func (s *Session) exchangeFor(ctx context.Context, o DecoupleOptions, d *Decoupled) (*exchange, error) {
	if !s.solving() || !o.NoMarks {
		return s.newExchange(o.Workers)
	}
	ms, err := s.readMessages()
	if err != nil {
		return nil, err
	}
	f, err := s.solveOrder(ctx, ms, o.Workers)
	d.Solved = f.out
	if err == nil {
		x := s.exchangeOf(o.Workers, ms, f.resolved)
		x.grant, x.choices = true, f.choices
		return x, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	d.Solved.Marks = true
	return s.exchangeOf(o.Workers, ms, ms.byMarks()), nil
}

func (o *DecoupleOptions) complete() {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
}
