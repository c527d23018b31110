package racesim

import (
	"errors"
	"fmt"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/emulate/x86"
	"github.com/racesim/racesim/loadsub"
	"github.com/racesim/racesim/traces"
)

// What a thread leaves changed in memory, another one may read. Where it does so
// first, its section is executed again with the changed value.

// Bounds of the search for readers.
const (
	maxReaders = 4         // readings of one difference
	maxAsleep  = 16        // threads looked at
	readerSpan = 5_000_000 // instructions of each of them
)

// A reading is a load of changed memory by another thread.
type reading struct {
	thread emulate.ThreadID
	count  emulate.Count
	addr   uint64
	size   int
	value  uint64
}

// readBy follows the difference that trial t made in section s to other threads
// that read what it left, and says what they do with it. ok is false if none is
// known to. The difference is gone if to all of them it makes none.
func (a *analysis) readBy(t *loadsub.Trial, s *overlay.Section) (f fate, ok bool) {
	changed := t.Changed(s)
	if len(changed) == 0 {
		return fate{}, false
	}
	list, all := a.readings(changed, s, false)
	return a.readWith(list, all, t.Result.Uint)
}

// readWith says what readings do with other values of the changed memory; all
// says that there are no more of them.
func (a *analysis) readWith(list []reading, all bool, values func(addr uint64, size int) (uint64, bool)) (f fate, ok bool) {
	n := 0
	f.gone = all && len(list) > 0
	for _, x := range list {
		u, where := a.readAgain(values, &x)
		if u == nil {
			f.gone = false
			continue
		}
		f.gone = f.gone && u.Outcome == "same"
		if n++; n > 1 {
			f.text += "; "
		}
		what := fmt.Sprintf("thread %d reads it in %s", x.thread, where)
		switch p := loadsub.Public(u.Outputs); {
		case u.Outcome == "same":
			f.text += what + ", where it makes no difference"
		case p != nil:
			f.text += what + ", and the program puts it out: " + p.Name
			f.public = p
		case u.Outcome == "different" || u.Outcome == "diverged":
			f.text += what
			if len(u.Outputs) > 0 {
				f.text += fmt.Sprintf(", where %s is %s instead of %s", u.Outputs[0].Name, u.Outputs[0].Got, u.Outputs[0].Want)
			}
		default:
			f.text += fmt.Sprintf("%s, with a %s: %s", what, u.Outcome, u.Detail)
		}
	}
	return f, n > 0
}

// readings finds where other threads, and the section's own if asked for, first
// read any of the bytes after the end of a section, before they store there. all
// says that there are no more.
func (a *analysis) readings(changed []overlay.Span, s *overlay.Section, own bool) (out []reading, all bool) {
	var lines []traces.LineRange
	for _, sp := range changed {
		lines = append(lines, traces.LineRange{First: sp.Addr >> 6, N: (sp.Addr+sp.N-1)>>6 - sp.Addr>>6 + 1})
	}
	set := replay.NewLineSet(lines)
	all = true
	for i, id := range a.t.s.Threads() {
		if id == s.Thread && !own {
			continue
		}
		if i >= maxAsleep || len(out) == maxReaders {
			return out, false
		}
		from := s.Stop
		if id != s.Thread {
			from = a.before(id, s.Thread, s.Stop-1)
		}
		th, _, err := a.pass.Seek(id, from)
		if err != nil {
			all = false
			continue
		}
		w := &firstRead{spans: changed, room: maxReaders - len(out), since: func() bool { return id == s.Thread || a.order(s.Thread, s.Stop-1, id, th.Count()) }}
		th.Observe(set, false, w)
		for {
			stop, err := th.RunTo(from + readerSpan)
			if err != nil || stop == nil || stop.Kind == x86.StopYield {
				all = all && stop == nil && th.Ended()
				break
			}
		}
		for _, x := range w.found {
			x.thread = id
			out = append(out, x)
		}
	}
	return out, all
}

var errRead = errors.New("changed memory is read")

// A firstRead is the x86.Watcher that looks for the first loads of some bytes.
type firstRead struct {
	spans []overlay.Span
	since func() bool // the time has come
	room  int
	found []reading
}

// Load serves x86.Watcher.
func (w *firstRead) Load(c *x86.CPU, addr uint64, size int, kind x86.AccessKind, v uint64) uint64 {
	for _, sp := range w.spans {
		if addr < sp.Addr+sp.N && sp.Addr < addr+uint64(size) && w.since() {
			at := emulate.Count(c.InstrCount())
			if n := len(w.found); n > 0 && w.found[n-1].count == at {
				return v
			}
			if len(w.found) < w.room {
				w.found = append(w.found, reading{count: at, addr: addr, size: size, value: v})
				return v
			}
			x86.Raise(&x86.Stop{Kind: x86.StopYield, Err: errRead})
		}
	}
	return v
}

// Store serves x86.Watcher: what is overwritten first, nobody reads.
func (w *firstRead) Store(c *x86.CPU, addr uint64, size int, v uint64) {
	var left []overlay.Span
	for _, sp := range w.spans {
		if !(addr <= sp.Addr && addr+uint64(size) >= sp.Addr+sp.N) || !w.since() {
			left = append(left, sp)
		}
	}
	w.spans = left
}

// readAgain executes the section around a reading with another value there; nil
// if that isn't known, or is what was read.
func (a *analysis) readAgain(values func(addr uint64, size int) (uint64, bool), x *reading) (u *loadsub.Trial, where string) {
	value, ok := values(x.addr, x.size)
	if !ok || value == x.value {
		return nil, ""
	}
	places, err := a.placesAround(x.thread, x.count, 1)
	if err != nil {
		return nil, ""
	}
	s, err := a.capture(x.thread, places[0])
	if err != nil || !s.Complete {
		return nil, ""
	}
	o := loadsub.Options{World: a.world(x.thread, x.count)}
	ref := loadsub.Reference(s, o)
	if len(loadsub.Faithful(s, ref)) > 0 {
		return nil, ""
	}
	for i := range s.Accesses {
		if y := &s.Accesses[i]; y.At == x.count && y.Addr == x.addr && int(y.Size) == x.size && !y.Writes() {
			return loadsub.Try(s, i, loadsub.Replacement{Source: loadsub.FromOther, Value: value}, ref, o), places[0].String()
		}
	}
	return nil, ""
}
