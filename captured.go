package racesim

import (
	"sync"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/emulate/overlay"
	"github.com/racesim/racesim/emulate/replay"
	"github.com/racesim/racesim/loadsub"
)

// Races come in crowds: two functions that race on one member of a structure
// race on all that they share, from the same calls. What is found around an
// access, and the sections that are captured, is therefore kept for a while, for
// the next question. Nothing but time depends on it.

// Bounds of what is kept: accesses whose places are known, and sections.
const (
	maxSeen     = 4096
	maxCaptured = 256
)

// captureShare is the part of what an analysis may take that sections kept get.
const captureShare = 16

// seen is what is kept of one pass. It is safe for concurrent use.
type seen struct {
	mu       sync.Mutex
	places   map[placesKey]*placesFound
	sections map[sectionKey]*sectionFound
	recent   []*sectionFound // those kept, the ones that were of use last first
	bytes    int64           // of recent, about
	limit    int64
}

type placesKey struct {
	thread emulate.ThreadID
	count  emulate.Count
	max    int
}

type placesFound struct {
	once   sync.Once
	places []loadsub.Place
	err    error
}

// A sectionKey says all that a captured section depends on.
type sectionKey struct {
	thread emulate.ThreadID
	start  emulate.Count
	goal   overlay.Goal // without Result
	typed  bool         // Result is known:
	result overlay.RegSet
}

type sectionFound struct {
	once  sync.Once
	key   sectionKey
	s     *overlay.Section
	err   error
	bytes int64
}

func newSeen(memory int64) *seen {
	return &seen{places: map[placesKey]*placesFound{}, sections: map[sectionKey]*sectionFound{}, limit: memory / captureShare}
}

// placesAround finds the sections around an access, as loadsub.Places does.
func (a *analysis) placesAround(id emulate.ThreadID, count emulate.Count, max int) ([]loadsub.Place, error) {
	k := a.seen
	key := placesKey{id, count, max}
	k.mu.Lock()
	f := k.places[key]
	if f == nil {
		if len(k.places) == maxSeen {
			clear(k.places)
		}
		f = &placesFound{}
		k.places[key] = f
	}
	k.mu.Unlock()
	f.once.Do(func() { f.places, f.err = loadsub.Places(a.pass, a.ms, id, count, max) })
	return append([]loadsub.Place(nil), f.places...), f.err
}

// capture gets the section of a place.
func (a *analysis) capture(id emulate.ThreadID, p loadsub.Place) (*overlay.Section, error) {
	k := a.seen
	key := sectionKey{thread: id, start: p.Start, goal: p.Goal}
	if r := p.Goal.Result; r != nil {
		key.goal.Result, key.typed, key.result = nil, true, *r
	}
	k.mu.Lock()
	f := k.sections[key]
	if f == nil {
		f = &sectionFound{key: key}
		k.sections[key] = f
	}
	k.mu.Unlock()
	f.once.Do(func() { f.s, f.bytes, f.err = a.captureAnew(id, p) })
	k.keep(f)
	if f.s != nil {
		a.spent += f.s.Steps()
	}
	return f.s, f.err
}

// captureAnew is capture of what isn't kept. bytes is about how much memory the
// section takes.
func (a *analysis) captureAnew(id emulate.ThreadID, p loadsub.Place) (s *overlay.Section, bytes int64, err error) {
	t, calls, err := a.pass.Seek(id, p.Start)
	if err != nil {
		return nil, 0, err
	}
	p.Goal.Stack[0], p.Goal.Stack[1] = calls.GoStack()
	s, err = overlay.Capture(t.Snapshot(), p.Goal)
	if err == nil {
		err = a.stays(s)
	}
	if s != nil {
		bytes = s.Bytes() + int64(t.Memory().Copied())*replay.PageSize
	}
	return s, bytes, err
}

// keep notes that a section was of use, and lets those go that weren't for long.
func (k *seen) keep(f *sectionFound) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := -1
	for i, g := range k.recent {
		if g == f {
			at = i
			break
		}
	}
	if at < 0 {
		k.bytes += f.bytes
		k.sections[f.key] = f // another worker may have let it go
		k.recent = append(k.recent, nil)
		at = len(k.recent) - 1
	}
	copy(k.recent[1:at+1], k.recent[:at])
	k.recent[0] = f
	for len(k.recent) > 1 && (k.bytes > k.limit || len(k.recent) > maxCaptured) {
		old := k.recent[len(k.recent)-1]
		k.recent[len(k.recent)-1] = nil
		k.recent = k.recent[:len(k.recent)-1]
		k.bytes -= old.bytes
		delete(k.sections, old.key)
	}
}
