package replay

import (
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"github.com/racesim/racesim/emulate"
	"github.com/racesim/racesim/traces"
)

// A log of pages says what a page holds when a thread acquires it, or which
// other thread left what is in it, and when. The latter makes threads depend on
// one another: before the first such packet is applied, all threads are
// replayed once, in the order in which they ran, and what they left for others
// is kept.

// A release is a page as a thread left it at one of its orderable events.
type release struct {
	of   emulate.ThreadID
	at   uint64
	page uint64
}

// acquire makes the thread's memory hold what a waiting page says.
func (t *Thread) acquire(w *waiting) {
	t.stats.Pages++
	num := w.min
	pg := t.writable(num)
	for l := num * linesPerPage; l < (num+1)*linesPerPage; l++ {
		t.win.Drop(l)
	}
	if w.of != 0 {
		from, err := t.s.released(release{emulate.ThreadID(w.of), w.skip, num}, t.early)
		if err != nil {
			t.fail(err)
			return
		}
		pg.data, pg.known, pg.parts = *from, ^uint64(0), nil
		if t.fresh != nil {
			t.fresh[num] = ^uint64(0)
		}
		return
	}
	rest := w.rest
	for i := uint64(0); i < linesPerPage; i++ {
		line := pg.line(i)
		switch bit := uint64(1) << i; {
		case w.mask&bit != 0:
		case w.own&bit != 0:
			clear(line[:])
		default:
			n := copy(line[:], rest)
			rest = rest[n:]
		}
	}
	pg.known, pg.parts = ^uint64(0), nil
	if t.fresh != nil {
		t.fresh[num] |= ^w.mask
	}
}

// released returns a page as a thread left it. early says that it is asked for
// by who finds out about all of them.
func (s *Session) released(r release, early bool) (*[PageSize]byte, error) {
	if !early {
		s.releaseOnce.Do(func() { s.releaseErr = s.resolve() })
		if s.releaseErr != nil {
			return nil, s.releaseErr
		}
	}
	d := s.releases[r]
	if d == nil {
		return nil, fmt.Errorf("replay: page %v, as thread %d left it at event %d, isn't in the trace", emulate.Addr(r.page<<PageShift), r.of, r.at)
	}
	return d, nil
}

// resolve finds out what all pages held that threads got from one another.
func (s *Session) resolve() error {
	type moment struct {
		id emulate.ThreadID
		at uint64
	}
	wanted := map[moment][]uint64{}
	for _, id := range s.threads {
		for cur := s.r.Cursor(uint32(id)); ; {
			p, err := cur.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			if p.Kind == traces.PageFrom {
				m := moment{emulate.ThreadID(p.Thread), p.Value}
				wanted[m] = append(wanted[m], p.N)
			}
		}
	}
	s.releases = map[release]*[PageSize]byte{}
	same := map[uint64]*[PageSize]byte{} // by hash: what is handed on unchanged is kept once
	slices, err := s.Schedule()
	if err != nil {
		return err
	}
	threads := map[emulate.ThreadID]*Thread{}
	for _, sl := range slices {
		t := threads[sl.Thread]
		if t == nil {
			if t, err = s.Thread(sl.Thread); err != nil {
				return err
			}
			t.early = true
			t.Want = Kinds(traces.Switch, traces.Exit)
			threads[sl.Thread] = t
		}
		for {
			ev, err := t.Step()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			if ev.Packet == nil || ev.Kind == traces.Switch && ev.Packet.In {
				continue
			}
			at := ev.Packet.Min
			for _, num := range wanted[moment{sl.Thread, at}] {
				pg := t.mem.find(num)
				if pg == nil {
					continue
				}
				h := xxh3.Hash(pg.data[:])
				d := same[h]
				if d == nil || *d != pg.data {
					d = new([PageSize]byte)
					*d = pg.data
					same[h] = d
				}
				s.releases[release{sl.Thread, at, num}] = d
			}
			break
		}
	}
	return nil
}
